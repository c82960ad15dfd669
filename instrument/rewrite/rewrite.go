// Package rewrite inserts probes into Go source text without adding lines, so that nothing moves
// to another line and no comment or directive is changed. It does not print syntax trees.
package rewrite

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"qinst.dev/instrument/points"
	"qinst.dev/runtime/edit"
	"qinst.dev/sddf/spec"
)

// Names makes the names that generated code declares and uses. All of them start
// with a prefix that no file of the package contains, so nothing of the user's
// can shadow them or be shadowed.
type Names struct {
	Prefix string
	Result string // of results that had no name; see goobj.Debug
	Twin   string // of twins
}

// NewNames picks prefixes that do not occur in any of the texts.
func NewNames(texts [][]byte) (n Names) {
	occurs := func(name string) bool {
		return slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Contains(t, []byte(name)) })
	}
	n.Prefix = "_qinst_"
	for i := 1; occurs(n.Prefix); i++ {
		n.Prefix = fmt.Sprintf("_qinst%d_", i)
	}
	// A letter of two bytes. A package that has all of them somewhere keeps what debuggers need not
	// know.
	n.Result, n.Twin = n.Prefix+"r", n.Prefix+"t"
	for _, name := range []*string{&n.Result, &n.Twin} {
		for r := 'ʳ'; r < 0x800; r++ {
			if letter := string(r); unicode.IsLetter(r) && !occurs(letter) && letter != n.Result {
				*name = letter
				break
			}
		}
	}
	return n
}

// expand replaces each @ of a template by the prefix.
func (n Names) expand(template string, args ...any) string {
	return strings.ReplaceAll(fmt.Sprintf(template, args...), "@", n.Prefix)
}

// File returns the text of a file with the probes of funcs in it, or nil if none of them is in
// this file, and where functions and their twins are in it. name is the file name in the header.
func File(name string, text []byte, file *token.File, set *points.Set, names Names) ([]byte, []points.Pair) {
	w := &writer{Names: names, Buffer: edit.New(text), file: file, set: set, text: text, words: words(set)}
	var funcs []*points.Func
	for _, fn := range set.Funcs {
		if fn.Changed() && in(file, fn.Node.Pos()) {
			funcs = append(funcs, fn)
		}
	}
	if len(funcs) == 0 && !slices.ContainsFunc(set.Capacities, w.has) {
		return nil, nil
	}
	w.header(name, text)
	w.capacities()
	w.each(funcs, w.entry)
	w.counters(funcs)
	w.each(funcs, func(fn *points.Func) {
		w.posts(fn)
		w.loops(fn)
	})
	w.each(funcs, w.syncs)
	w.each(funcs, w.exits)
	w.each(funcs, func(fn *points.Func) {
		w.turns(fn)
		switch {
		case fn.Bodies.Twin:
			w.twin(fn, funcs)
		case fn.Bodies.Once == 0:
			w.bodies(fn)
		}
	})
	return w.Bytes(), w.pairs(funcs)
}

// in reports whether a position is one of a file.
func in(file *token.File, pos token.Pos) bool {
	return file.Base() <= int(pos) && int(pos) <= file.Base()+file.Size()
}

// has reports whether a channel is made in the file.
func (w *writer) has(r points.Capacity) bool {
	return in(w.file, r.Pos)
}

// capacities gives channels other capacities. What said theirs is evaluated still.
func (w *writer) capacities() {
	w.Own(ofCapacities)
	for _, r := range w.set.Capacities {
		switch {
		case !w.has(r):
		case r.Pos == r.End:
			w.insert(r.Pos, ", %d", r.N)
		default:
			w.insert(r.Pos, "%d + 0*(", r.N)
			w.insert(r.End, ")")
		}
	}
}

// ofCapacities owns edits that are in both texts of a function.
const ofCapacities = 0

// each makes edits of functions. They own them: a function's second text is without its own edits,
// but with those of the literals in it.
func (w *writer) each(funcs []*points.Func, edit func(*points.Func)) {
	for _, fn := range funcs {
		w.Own(probesOf(fn))
		edit(fn)
	}
}

// Owners of edits. The second text of a function is without all of them, that of a loop without the
// probes in it, but with what every exit needs: those of the function, and of the loops around it.
func probesOf(fn *points.Func) int { return int(fn.Point) + 1 }
func exitsOf(fn *points.Func) int  { return -int(fn.Point) - 1 }
func leavesOf(lp *points.Loop) int { return int(lp.Point) + 1 }

// writer edits one file. The order of the calls determines the order of insertions at the same
// offset: entries, then texts that open at a statement, then those that close, then loops and
// operations, then exits.
type writer struct {
	Names
	*edit.Buffer
	file *token.File
	set  *points.Set
	text []byte // the original

	words map[uint32]int // of what has a word in ledgers: its number
}

func (w *writer) insert(pos token.Pos, template string, args ...any) {
	w.Insert(w.file.Offset(pos), w.expand(template, args...))
}

// header gives the file its old name back. A byte order mark is removed, because it is allowed
// only at the very start of a file.
func (w *writer) header(name string, text []byte) {
	bom := 0
	if strings.HasPrefix(string(text), "\ufeff") {
		bom = len("\ufeff")
	}
	w.Replace(0, bom, fmt.Sprintf("//line %s:1:1\n", name))
}

// entry names the results if the exits need it, and marks the start of the body.
func (w *writer) entry(fn *points.Func) {
	at := fn.Body.Lbrace + 1
	if n := len(fn.Bodies.Held); n > 0 { // they are named, not read, which might be a race
		w.insert(at, " if @n := 0; @n != 0 { %s = %s };", strings.Repeat(", _", n)[2:],
			strings.Join(fn.Bodies.Held, ", "))
	}
	if fn.Small && !fn.Summed && (!w.set.InLine || fn.Bodies.Once != 0) {
		if w.set.InLine && fn.SmallUnit() { // its slot has all activations
			w.insert(at, " *@word(%d)++;", w.words[fn.Point])
		}
		w.insert(at, " %s;", w.counting(fn, []uint32{fn.Point}))
	}
	if fn.Bare {
		return
	}
	if fn.Exit.Form == points.DeferredExit {
		exit := "exit"
		if slices.ContainsFunc(fn.Probes.Loops, func(lp *points.Loop) bool { return lp.Deep }) {
			exit = "exitall" // also of a loop of this kind that a return left
		}
		w.insert(at, " %s{ if @t := @enter(@base + %d); @t != 0 { defer @%s(@t) } };", w.reached(fn, fn.Point),
			fn.Point, exit)
		return
	}
	point := fn.Point
	if w.set.Points[fn.Point].Flags&spec.FlagLateDefer != 0 {
		point += lateExit
	}
	if !hasExit(fn) {
		w.insert(at, " %s{ @enter(@base + %d) };", w.reached(fn, fn.Point), point)
		return
	}
	if slices.ContainsFunc(fn.Exit.Returns, func(r *ast.ReturnStmt) bool { return len(r.Results) > 0 }) {
		w.nameResults(fn.Type)
	}
	w.insert(at, " var @t @u64; %s{ @t = @enter(@base + %d) };", w.reached(fn, fn.Point), point)
}

// level returns fn's level, see spec.ProcPlain.
func (w *writer) level(fn *points.Func) string {
	return w.expand("@off[%d]", len(w.set.Points)+int(fn.Point))
}

// reached begins the statement that calls a probe with an entry and exits. The hit is counted in
// line where that is all there is to do. Loops of an activation that goes on while its procedure
// gets another level, below that of probes, are counted in line, too.
func (w *writer) reached(fn *points.Func, point uint32) string {
	if !w.set.InLine {
		return w.expand("if @off[%d] == 0 ", point)
	}
	counted := w.expand("%s == %d", w.level(fn), spec.ProcCounted)
	switch {
	case fn.Bodies.Once != 0: // the first test is the only one where all is off
		counted = w.expand("%s == %d { } else if %s", w.level(fn), spec.ProcPlain, counted)
	case point != fn.Point:
		counted = w.expand("%s != %d", w.level(fn), spec.ProcProbed)
	}
	return w.expand("if %s { %s } else if @off[%[3]d] == 0 ", counted, w.increment(fn, fmt.Sprint(point)), point)
}

// increment returns the statement that counts in line. With a call it has half as many nodes, so
// that more functions may stand twice. Into a large function, which stands once, the compiler would
// not inline it.
func (w *writer) increment(fn *points.Func, point string) string {
	if fn.Bodies.Once == 0 {
		return "@inc(" + point + ")"
	}
	return "*@slot(" + point + ")++"
}

// lateExit tells the runtime that the procedure has deferred calls and an
// explicit exit: after a recovered panic it returns without passing its exit.
const lateExit = 1 << 20

// hasExit reports whether control can leave fn other than by a panic. If not, there must be no
// variable for the token, because it would be declared and not used.
func hasExit(fn *points.Func) bool {
	return len(fn.Exit.Returns) > 0 || fn.Type.Results.NumFields() == 0
}

// nameResults gives a name to each result that has none.
func (w *writer) nameResults(t *ast.FuncType) {
	if !t.Results.Opening.IsValid() {
		w.insert(t.Results.Pos(), "(%s ", w.result(0))
		w.insert(t.Results.End(), ")")
		return
	}
	n := 0
	for _, field := range t.Results.List {
		if len(field.Names) == 0 {
			w.insert(field.Type.Pos(), "%s ", w.result(n))
			n++
		}
		for _, id := range field.Names {
			if id.Name == "_" {
				w.Replace(w.file.Offset(id.Pos()), w.file.Offset(id.End()), w.result(n))
			}
			n++
		}
	}
}

func (w *writer) result(n int) string { return w.Result + strconv.Itoa(n) }

// results lists the names that nameResults leaves t's results with.
func (w *writer) results(t *ast.FuncType) string {
	var list []string
	for _, field := range t.Results.List {
		if len(field.Names) == 0 {
			list = append(list, w.result(len(list)))
		}
		for _, id := range field.Names {
			if id.Name == "_" {
				list = append(list, w.result(len(list)))
			} else {
				list = append(list, id.Name)
			}
		}
	}
	return strings.Join(list, ", ")
}

// counters opens the insertions from the outermost in and closes them the other way
// round.
func (w *writer) counters(funcs []*points.Func) {
	type owned struct {
		*points.Insertion
		fn *points.Func
	}
	var all []owned
	w.each(funcs, func(fn *points.Func) {
		for _, a := range fn.Probes.Insertions {
			all = append(all, owned{a, fn})
			w.open(fn, a)
		}
	})
	w.each(funcs, w.openValues)
	back := slices.Clone(funcs)
	slices.Reverse(back)
	w.each(back, w.closeValues)
	for _, a := range slices.Backward(all) {
		w.each([]*points.Func{a.fn}, func(*points.Func) { w.close(a.Insertion) })
	}
}

func (w *writer) open(fn *points.Func, a *points.Insertion) {
	switch a.Form {
	case points.Before:
		w.insert(a.Pos, "%s", w.statement(fn, a))
	case points.And:
		w.insert(a.Pos, "((%s%s) && (", w.unless(fn, a.Points), w.counts(asCondition, a.Points))
	case points.Else:
		w.insert(a.Pos, "{ %s", w.statement(fn, a))
	case points.Value:
		w.insert(a.Pos, "@pass(%s, ", w.value(fn, a.Points))
	}
}

func (w *writer) close(a *points.Insertion) {
	switch a.Form {
	case points.And:
		w.insert(a.End, "))")
	case points.Else:
		w.insert(a.End, " }")
	case points.Value:
		w.insert(a.End, ")")
	}
}

// statement counts the calls at an insertion.
func (w *writer) statement(fn *points.Func, a *points.Insertion) string {
	return w.counting(fn, a.Points) + "; "
}

// counting returns a statement that counts calls.
func (w *writer) counting(fn *points.Func, list []uint32) string {
	counted, _ := w.tests(fn, list)
	form := asStatement
	form.slot = w.increment(fn, "%[1]d")
	counts := w.counts(form, list)
	if counted == "" {
		return counts
	}
	return w.expand("if %s { %s }", counted, counts)
}

// unless returns the beginning of a condition that counts calls: that they are not counted.
func (w *writer) unless(fn *points.Func, list []uint32) string {
	if _, skipped := w.tests(fn, list); skipped != "" {
		return skipped + " || "
	}
	return ""
}

// tests returns the conditions that calls are counted, and that they are not. Counting in line
// needs none in a body that is reached only if its procedure has a level: what a rule switches off
// there is cheaper to count than to test.
func (w *writer) tests(fn *points.Func, list []uint32) (counted, skipped string) {
	switch {
	case w.set.InLine && fn.Bodies.Once == 0:
		return "", ""
	case w.set.InLine:
		return w.level(fn) + " != 0", w.level(fn) + " == 0"
	}
	var all []string
	for _, n := range list {
		all = append(all, w.expand("@off[%d]", n))
	}
	off := strings.Join(all, "&")
	return off + " == 0", off + " != 0"
}

// countForm is the way in which calls are counted: by a probe, in the point's slot of the ledger,
// or there with a probe that is told of every callee but the one that the ledger's word names. The
// templates' arguments are the point, the word, what names the callee in the word, the probe, and
// the point with the method that is called.
//
// No call may stand between the address of a slot and its use. Otherwise the goroutine could be
// stopped in between and go on with another ledger.
type countForm struct{ sep, probe, slot, told string }

var (
	asStatement = countForm{
		"; ",
		"%[4]s",
		"", // see increment
		"if @c := %[3]s; @most(%[1]d, %[2]d) != @c { @told(@at + 8*%[2]d, @base + %[5]d, @c) }",
	}
	asCondition = countForm{ // an expression that is true
		" && ",
		"%[4]s == 0",
		"@inc(%[1]d) == 0",
		"(@most(%[1]d, %[2]d) == %[3]s || @told(@at + 8*%[2]d, @base + %[5]d, %[3]s) == 0)",
	}
)

// counts counts calls.
func (w *writer) counts(form countForm, list []uint32) string {
	var all []string
	for _, n := range list {
		template, name := form.probe, w.callee(n)
		switch {
		case !w.set.InLine:
		case name == "":
			template = form.slot
		default:
			template = form.told
		}
		all = append(all, fmt.Sprintf(template, n, w.words[n], name, w.probe(n), withMethod(w.set, n)))
	}
	return w.expand("%s", strings.Join(all, form.sep))
}

// words numbers what has a word in ledgers: calls, for their callee, and loops and small procedures
// that stand twice, for their iterations and activations. There are no more of them than points,
// and so never words of another package's.
func words(set *points.Set) map[uint32]int {
	numbers := map[uint32]int{}
	if set.InLine {
		for k, n := range slices.Sorted(maps.Keys(set.Dynamic)) {
			numbers[n] = k
		}
		for i, n := range units(set) {
			numbers[n] = len(set.Dynamic) + i
		}
	}
	return numbers
}

// units lists the loops that stand twice, and the small procedures with two texts, in ascending
// order.
func units(set *points.Set) (list []uint32) {
	for _, fn := range set.Funcs {
		if set.InLine && fn.SmallUnit() {
			list = append(list, fn.Point)
		}
		for _, lp := range fn.Probes.Loops {
			if set.InLine && lp.Twice {
				list = append(list, lp.Point)
			}
		}
	}
	return list
}

// statements lists the go statements of procedures with twins that are the only ones on their
// lines.
func statements(set *points.Set) (list []uint32) {
	type line struct {
		proc uint32
		line uint32
	}
	on := make(map[line]int)
	for i := range set.Points {
		if p := &set.Points[i]; p.Kind == spec.PointGo {
			on[line{p.Owner, p.Line}]++
		}
	}
	twins := make(map[uint32]bool)
	for _, twin := range set.Twins() {
		twins[twin.Point] = true
	}
	for i := range set.Points {
		if p := &set.Points[i]; p.Kind == spec.PointGo && twins[p.Owner] && on[line{p.Owner, p.Line}] == 1 {
			list = append(list, uint32(i))
		}
	}
	return list
}

// mostMethods is above the index of any method that there is room for beside the number of a point,
// in what may be an int32 (see abiTypes).
const mostMethods = 1<<31/spec.MaxProbes - 1

// withMethod is the number of a point, and above it the index of the method that is called and 1. A
// function has 0 there.
func withMethod(set *points.Set, n uint32) uint32 {
	return n + uint32(set.Dynamic[n].Method+1)*spec.MaxProbes
}

// value counts the calls of a case's value, which is 0.
func (w *writer) value(fn *points.Func, list []uint32) string {
	var all []string
	for _, n := range list {
		all = append(all, w.expand("@counted(%d, %s)", n, w.level(fn)))
	}
	return strings.Join(all, " | ")
}

// probe counts a call in the thread's counter, and records its callee if that is known only at
// run time.
func (w *writer) probe(n uint32) string {
	if name := w.callee(n); name != "" {
		return w.expand("@callee(@base + %d, %s)", n, name)
	}
	return w.expand("@call(@base + %d)", n)
}

// callee returns the expression that names a callee, "" if the callee is not recorded: the address
// of its code, or the table of an interface's methods, which the call has loaded anyway.
func (w *writer) callee(n uint32) string {
	d, ok := w.set.Dynamic[n]
	if !ok {
		return ""
	}
	operand := string(w.text[w.file.Offset(d.Operand.Pos()):w.file.Offset(d.Operand.End())])
	switch {
	case strings.Contains(operand, "\n"): // the number of lines must not change
		return ""
	case d.Method >= mostMethods:
		return ""
	case d.Method < 0:
		return w.expand("@code(%s)", operand)
	case w.set.InLine:
		return w.expand("@itab(%s)", operand)
	}
	return w.expand("@method(%s, %d)", operand, d.Method)
}

// posts counts the calls in post statements of loops.
func (w *writer) posts(fn *points.Func) {
	for _, p := range fn.Probes.Posts {
		n := p.Points[0]
		w.declare(p.Gotos, p.Home, p.Start, fmt.Sprintf("@q%d", n), "@u64", "0")
		if p.Cond == nil {
			w.insert(p.Body, " if @q%d != 0 { %s };", n, w.counting(fn, p.Points))
		} else {
			w.insert(p.Cond.Pos(), "(%s@q%d == 0 || %s) && (", w.unless(fn, p.Points), n,
				w.counts(asCondition, p.Points))
			w.insert(p.Cond.End(), ")")
		}
		w.insert(p.Body, " @q%d++;", n)
	}
}

// declare declares a variable that is zero each time that control comes to start. No goto may jump
// over the declaration: in a function with gotos it stands at home, the head of the function.
func (w *writer) declare(gotos bool, home, start token.Pos, name, typ, zero string) {
	if !gotos {
		w.insert(start, "var %[1]s %[2]s; _ = %[1]s; ", name, typ)
		return
	}
	w.insert(home, " var %[1]s %[2]s; _ = %[1]s;", name, typ)
	w.insert(start, "%s = %s; ", name, zero)
}

// leaves returns the statement at an exit. An entry that is only on the profile stack, as a small
// token says, is removed without a call, because a call would have to save the results around it.
func (w *writer) leaves(token, probe string) string {
	if !w.set.InLine {
		return w.expand("if %s != 0 { %s }", token, probe)
	}
	return w.expand("if %[1]s != 0 { if %[1]s < 1<<20 { *@depth() = @u32(%[1]s) - 1 } else { %[2]s } }", token, probe)
}

// exits marks the returns and the end of the body. Values are assigned to the
// results first, as the return statement itself would do. A return in a loop is
// the loop's exit too.
func (w *writer) exits(fn *points.Func) {
	left := map[ast.Stmt][]*points.Loop{}
	for _, l := range fn.Probes.Leaves {
		left[l.Stmt] = l.Loops
		if _, ok := l.Stmt.(*ast.ReturnStmt); !ok || fn.Bare || fn.Exit.Form == points.DeferredExit {
			w.leaving(l.Stmt.Pos(), "%s; ", l.Loops)
		}
	}
	if fn.Bare || fn.Exit.Form == points.DeferredExit {
		return
	}
	exit := w.leaves("@t", "@exit(@t)")
	for _, ret := range fn.Exit.Returns {
		if len(ret.Results) == 0 {
			w.leaving(ret.Pos(), "%s; ", left[ret])
			w.Own(exitsOf(fn))
			w.insert(ret.Pos(), "%s; ", exit)
			continue
		}
		w.Own(exitsOf(fn))
		at := w.file.Offset(ret.Pos())
		w.Replace(at, at+len("return"), w.results(fn.Type)+" =")
		w.leaving(ret.End(), "; %s", left[ret])
		w.Own(exitsOf(fn))
		w.insert(ret.End(), "; %s; return", exit)
	}
	if fn.Type.Results.NumFields() == 0 {
		w.Own(probesOf(fn))
		w.insert(fn.Body.Rbrace, "; %s ", exit)
	}
}

// leaving inserts the exits of loops, innermost first.
func (w *writer) leaving(at token.Pos, template string, loops []*points.Loop) {
	for _, lp := range loops {
		w.Own(leavesOf(lp))
		w.insert(at, template, w.leave(lp))
	}
}
