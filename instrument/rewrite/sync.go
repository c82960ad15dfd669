package rewrite

import (
	"go/token"

	"qinst.dev/instrument/points"
)

// syncs puts the probes of fn's operations on synchronization objects in.
func (w *writer) syncs(fn *points.Func) {
	for _, y := range fn.Syncs {
		switch y.Form {
		case points.ChanAfter:
			w.insert(y.End, "; if @on != 0 { @chan(@base + %d) }", y.Point)
		case points.ChanInside:
			w.insert(y.Pos, " if @on != 0 { @chan(@base + %d) };", y.Point)
		case points.ChanCount:
			w.insert(y.Pos, " if @on != 0 { @call(@base + %d) };", y.Point)
		case points.ChanCond:
			w.insert(y.Pos, "(@on == 0 || @chan(@base + %d) == 0) && (", y.Point)
			w.insert(y.End, ")")
		case points.SyncTry:
			w.insert(y.Pos, "(")
			operand := string(w.text[w.file.Offset(y.Operand.Pos()):w.file.Offset(y.Operand.End())])
			if y.Object == points.Variable {
				operand = "&" + operand
			}
			w.insert(y.End, " && @got(@base + %d, %s, %d) == 0)", y.Point, w.address(y, operand), y.Queue)
		default:
			w.syncCall(y)
		}
	}
}

// syncCall rewrites a call statement x.M() as
//
//	{ p := &x; p.M(); if on { sync(point, p) } }
//
// so that x is evaluated once. close(x), whose operand is an argument, becomes
// { p := x; close(p) } likewise.
func (w *writer) syncCall(y *points.Sync) {
	open, deferred := "{ @p%d := (", ""
	if y.Object == points.Variable {
		open = "{ @p%d := &("
	}
	if y.Form == points.SyncDefer {
		w.delete(y.Pos, "defer")
		deferred = "defer "
	}
	probe := w.expand("if @on != 0 { %s@sync(@base + %d, %s, %d) }", deferred, y.Point, w.address(y, w.expand("@p%d", y.Point)), y.Queue)
	before, after := "", "; "+probe
	if y.Form == points.SyncBefore {
		before, after = probe+"; ", ""
	}
	if y.Object == points.Channel {
		w.delete(y.Call.Fun.Pos(), "close")
		w.Replace(w.file.Offset(y.Call.Lparen), w.file.Offset(y.Call.Lparen)+1, w.expand(open, y.Point))
		w.Replace(w.file.Offset(y.Call.Rparen), w.file.Offset(y.Call.Rparen)+1, w.expand("); %s%sclose(@p%d)%s }", before, deferred, y.Point, after))
		return
	}
	w.insert(y.Operand.Pos(), "%s", w.expand(open, y.Point))
	w.insert(y.Operand.End(), "); %s%s%s", before, deferred, w.expand("@p%d", y.Point))
	w.insert(y.End, "%s }", after)
}

// delete removes a word of the text.
func (w *writer) delete(pos token.Pos, word string) {
	at := w.file.Offset(pos)
	w.Replace(at, at+len(word), "")
}

// address is the expression for where the object is.
func (w *writer) address(y *points.Sync, p string) string {
	switch {
	case y.Object == points.Channel:
		return w.expand("*(*@uptr)(@ptr(&%s))", p)
	case y.Object == points.Interface:
		return w.expand("(*[2]@uptr)(@ptr(&%s))[1]", p) // the data word
	case y.Offset != 0:
		return w.expand("@uptr(@ptr(%s)) + %d", p, y.Offset)
	}
	return w.expand("@uptr(@ptr(%s))", p)
}
