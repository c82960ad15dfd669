package rewrite

import (
	"go/token"
	"slices"
	"strconv"

	"qinst.dev/instrument/points"
	"qinst.dev/sddf/spec"
)

// syncs puts the probes of fn's operations on synchronization objects in.
func (w *writer) syncs(fn *points.Func) {
	for _, y := range fn.Probes.Syncs {
		switch y.Form {
		case points.ChanAfter:
			w.insert(y.End, "; %s", w.operation(y, "@chan(@base + %d)"))
		case points.ChanInside:
			w.insert(y.Pos, " %s;", w.operation(y, "@chan(@base + %d)"))
		case points.ChanCount:
			count := "@call(@base + %[1]d)"
			if w.set.InLine {
				count = "*@slot(%[1]d)++"
			}
			w.insert(y.Pos, " if @off[%[1]d] == 0 { "+count+" };", y.Point)
		case points.ChanCond:
			w.insert(y.Pos, "(@off[%[1]d] != 0 || @chan(@base + %[1]d) == 0) && (", y.Point)
			w.insert(y.End, ")")
		case points.ChanValue, points.SyncValue, points.SyncValueAfter: // see openValues
		case points.SyncTry:
			w.insert(y.Pos, "(")
			w.insert(y.End, " && @got(%d, %s, %s) == 0)", y.Point, w.address(y, w.operand(y)), w.queue(y))
		case points.SyncErr: // see openValues
		default:
			w.syncCall(y)
		}
	}
}

// openValues begins to make receives within expressions, and method values, arguments of functions
// that return their arguments; closeValues ends it. They open from the outermost in.
func (w *writer) openValues(fn *points.Func) {
	for _, y := range fn.Probes.Syncs {
		switch y.Form {
		case points.ChanValue:
			w.insert(y.Pos, "@received(")
		case points.SyncValue:
			w.insert(y.Pos, "@before(")
		case points.SyncValueAfter:
			w.insert(y.Pos, "@after(")
		case points.SyncErr:
			w.insert(y.Pos, "@acquired(")
		}
	}
}

func (w *writer) closeValues(fn *points.Func) {
	for _, y := range slices.Backward(fn.Probes.Syncs) {
		switch y.Form {
		case points.ChanValue:
			w.insert(y.End, ", %d)", y.Point)
		case points.SyncValue, points.SyncValueAfter:
			w.insert(y.End, ", %d, %d, %d)", y.Point, y.Queue, boundAt(y))
		case points.SyncErr:
			w.insert(y.End, ", %d, %s, %s)", y.Point, w.address(y, w.operand(y)), w.queue(y))
		}
	}
}

// boundAt is the word of a method value that is the object's address: the first is that of the
// code. An interface has two.
func boundAt(y *points.Sync) int {
	if y.Object == points.Interface {
		return 2
	}
	return 1
}

// queue returns the expression for the number that tells the runtime of others who wait, or of an
// amount.
func (w *writer) queue(y *points.Sync) string {
	if y.Amount == nil {
		return strconv.Itoa(y.Queue)
	}
	return w.expand("@many(@u64(") + string(w.text[w.file.Offset(y.Amount.Pos()):w.file.Offset(y.Amount.End())]) + "))"
}

// operand returns the text of a pointer to the receiver, or of another kind of operand.
func (w *writer) operand(y *points.Sync) string {
	text := string(w.text[w.file.Offset(y.Operand.Pos()):w.file.Offset(y.Operand.End())])
	return w.refer(y) + "(" + text + ")" + y.Path
}

// refer returns the text before the operand.
func (w *writer) refer(y *points.Sync) string {
	if y.Object == points.Variable {
		return "&"
	}
	return ""
}

// syncCall rewrites a call statement x.M() as
//
//	{ p := &x; p.M(); if off[n] == 0 { sync(point, p) } }
//
// so that x is evaluated once. close(x), whose operand is an argument, becomes { p := x; close(p)
// } in the same way. A method value has been evaluated already.
func (w *writer) syncCall(y *points.Sync) {
	switch {
	case y.Form == points.SyncInstead:
		w.instead(y)
		return
	case y.Object == points.Bound:
		w.boundCall(y)
		return
	}
	open, deferred := "{ @p%d := "+w.refer(y)+"(", ""
	if y.Form == points.SyncDefer || y.Form == points.SyncDeferAfter {
		w.delete(y.Pos, "defer")
		deferred = "defer "
	}
	probe := w.operation(y, deferred+"@sync(@base + %d, "+w.address(y, w.expand("@p%d", y.Point))+", "+w.queue(y)+")")
	before, after := "", "; "+probe
	if y.Form == points.SyncBefore || y.Form == points.SyncDeferAfter {
		before, after = probe+"; ", ""
	}
	if y.Object == points.Channel {
		w.delete(y.Call.Fun.Pos(), "close")
		w.Replace(w.file.Offset(y.Call.Lparen), w.file.Offset(y.Call.Lparen)+1, w.expand(open, y.Point))
		w.Replace(w.file.Offset(y.Call.Rparen), w.file.Offset(y.Call.Rparen)+1,
			w.expand("); %s%sclose(@p%d)%s }", before, deferred, y.Point, after))
		return
	}
	w.insert(y.Operand.Pos(), "%s", w.expand(open, y.Point))
	w.insert(y.Operand.End(), ")%s; %s%s%s", y.Path, before, deferred, w.expand("@p%d", y.Point))
	w.insert(y.End, "%s }", after)
}

// instead rewrites a deferred call x.M() as
//
//	{ p := &x; defer deferred(point, p, queue, p.M) }
//
// Like the plain statement this evaluates x and the method at once, and it is one defer. The method
// value needs no memory of its own, because the probe keeps nothing.
func (w *writer) instead(y *points.Sync) {
	w.delete(y.Pos, "defer")
	p, at := w.expand("@p%d", y.Point), y.Operand.End()
	if y.Object == points.Bound {
		p, at = w.operand(y), y.Operand.Pos()
	} else {
		w.insert(y.Operand.Pos(), "{ %s := %s(", p, w.refer(y))
		w.insert(at, ")%s; ", y.Path)
		w.insert(y.End, " }")
	}
	w.insert(at, "defer @deferred(@on(%d), %s, %d, ", y.Point, w.address(y, p), y.Queue)
	if y.Object != points.Bound {
		w.insert(at, "%s", p)
	}
	lparen := w.file.Offset(y.Call.Lparen)
	w.Replace(lparen, lparen+1, ",") // a line may end there
}

// operation returns the statement that records an operation, by a probe, the template of which has
// the number of the point to be filled in. While such operations are only counted, they are in
// line: the point's own level says so. A deferred one is counted when it is made, and so by its
// probe.
func (w *writer) operation(y *points.Sync, probe string) string {
	if w.set.InLine && y.InLine() {
		probe = w.expand("if @off[%d] == %d { *@slot(%d)++ } else { ", len(w.set.Points)+int(y.Point), spec.ProcCounted,
			y.Point) + probe + " }"
	}
	return w.expand("if @off[%d] == 0 { ", y.Point) + w.expand(probe, y.Point) + " }"
}

// boundCall puts the probe next to a call f(), where f is a method value.
func (w *writer) boundCall(y *points.Sync) {
	probe := w.expand("@sync(@base + %d, %s, %d) }", y.Point, w.address(y, w.operand(y)), y.Queue)
	switch y.Form {
	case points.SyncBefore:
		w.insert(y.Pos, "if @off[%d] == 0 { %s; ", y.Point, probe)
	case points.SyncAfter:
		w.insert(y.End, "; if @off[%d] == 0 { %s", y.Point, probe)
	case points.SyncDefer:
		w.insert(y.End, "; if @off[%d] == 0 { defer %s", y.Point, probe)
	case points.SyncDeferAfter:
		w.insert(y.Pos, "if @off[%d] == 0 { defer %s; ", y.Point, probe)
	}
}

// delete removes a word of the text.
func (w *writer) delete(pos token.Pos, word string) {
	at := w.file.Offset(pos)
	w.Replace(at, at+len(word), "")
}

// address returns the expression for the address of the object; p stands for the operand.
func (w *writer) address(y *points.Sync, p string) string {
	switch {
	case y.Object == points.Channel:
		return w.expand("*(*@uptr)(@ptr(&%s))", p)
	case y.Object == points.Interface:
		return w.expand("(*[2]@uptr)(@ptr(&%s))[1]", p) // the data word
	case y.Object == points.Bound:
		return w.expand("@bound(%s)", p)
	case y.Within != "":
		return w.expand("@uptr(@ptr(&%s%s))", p, y.Within)
	}
	return w.expand("@uptr(@ptr(%s))", p)
}
