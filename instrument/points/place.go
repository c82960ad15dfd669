package points

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"

	"golang.org/x/tools/go/types/typeutil"

	"qinst.dev/sddf/spec"
)

// Form is the way in which a counter is put into the text.
type Form uint8

const (
	// Before puts a statement before the one at Pos.
	Before Form = iota
	// And makes the condition [Pos, End) the right operand of an &&. No statement
	// can stand before such a condition, because it is evaluated conditionally or
	// repeatedly.
	And
	// Else makes the else-if [Pos, End) an else with a block, in which a
	// statement stands before the if.
	Else
	// Value makes the case value [Pos, End) an argument of a function that returns
	// it. The function's other argument counts.
	Value
)

// Insertion is a place in the text where counters of calls are inserted.
type Insertion struct {
	Form     Form
	Pos, End token.Pos
	Points   []uint32 // the points with a counter

	representative *uint32 // the point that counts for the others
	unsure         bool    // a call or receive there may not return, so that the next one may not be made
}

// Post holds the calls in the post statement of a for loop. They are counted when
// the condition is evaluated again or, if there is no condition, when the next
// iteration begins. A variable tells the first time from the others.
type Post struct {
	Points            []uint32
	Gotos             bool // these as in [Loop]
	Home, Start, Body token.Pos
	Cond              ast.Expr // nil if there is none
}

// spot is the insertion that counts the calls of an expression, or the reason why
// they cannot be counted.
type spot struct {
	insertion *Insertion
	skip      SkipReason
}

// placer walks one function's statements.
type placer struct {
	*finder
	fn         *Func
	gotos      map[string]bool
	loops      *looper
	insertions []*Insertion
	counters   int
	taken      map[*ast.UnaryExpr]bool // receives that are already points or skips
	asked      []*ast.CommClause       // see asking
	alone      ast.Expr                // the call of a go or defer statement: nothing can be put around it
	dropped    ast.Expr                // a call that is a statement: only another call can be put around it
}

// mostCounters is how many calls of one procedure are counted. The compiler's time grows with the
// square of their number: 1,000 take 3 seconds, 10,000 take minutes. Only generators write more.
const mostCounters = 1000

// placeCalls makes every call of fn a point with an insertion, or a skip. A call is
// counted before the statement that contains it. The count is therefore one too high
// if an earlier part of the statement panics.
func (f *finder) placeCalls(fn *Func) {
	gotos := gotoTargets(fn.Body)
	p := &placer{finder: f, fn: fn, gotos: gotos, loops: newLooper(f, fn, gotos), taken: map[*ast.UnaryExpr]bool{}}
	p.body()
	for _, a := range p.insertions {
		if len(a.Points) > 0 {
			fn.Probes.Insertions = append(fn.Probes.Insertions, a)
		}
	}
}

func (p *placer) at(form Form, n ast.Node) spot { return p.insertion(form, n.Pos(), n.End()) }

func (p *placer) insertion(form Form, pos, end token.Pos) spot {
	a := &Insertion{Form: form, Pos: pos, End: end}
	p.insertions = append(p.insertions, a)
	return spot{insertion: a}
}

// body places the calls of the function's statements. The calls of the first statements
// need no counter, because they are made whenever the function is called: the function's
// count stands for them.
func (p *placer) body() {
	var entry *uint32
	if !p.fn.Bare || p.fn.Small {
		entry = &p.fn.Point
	}
	p.listFrom(entry, p.fn.Body.List)
}

func (p *placer) list(stmts []ast.Stmt) { p.listFrom(nil, stmts) }

// listFrom places the calls of a list's statements. representative is a point that is hit
// whenever the first statement is reached, nil if there is none.
func (p *placer) listFrom(representative *uint32, stmts []ast.Stmt) {
	var run *Insertion // counts the statements before s, if s always follows them
	for i := 0; i < len(stmts); i++ {
		s := stmts[i]
		if lp, taken := p.loops.gotoLoop(stmts[i:]); lp != nil {
			p.loops.within(lp, p.loops.home, func() { p.plain(stmts[i : i+taken]) })
			i += taken - 1
			run = nil
			continue
		}
		head := run
		if run == nil || !p.joins(s) {
			head = p.at(Before, s).insertion
			if i == 0 {
				head.representative = representative
			}
		}
		p.stmt(s, spot{insertion: head})
		switch {
		case !p.passes(s):
			run = nil
		case run == nil:
			run = head
		}
	}
}

// plain places the calls of the statements of a loop made of gotos.
func (p *placer) plain(stmts []ast.Stmt) {
	p.stmt(stmts[0], p.at(Before, stmts[0]))
	p.list(stmts[1:])
}

// stmt places the calls of s; those in its head are counted at head.
func (p *placer) stmt(s ast.Stmt, head spot) {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		p.stmt(s.Stmt, p.afterLabel(s, head))
	case *ast.BlockStmt:
		p.list(s.List)
	case *ast.IfStmt:
		p.ifStmt(s, head)
	case *ast.ForStmt:
		p.optional(s.Init, head)
		lp := p.loops.loop(s, s.Body, head)
		if s.Cond != nil {
			p.expr(s.Cond, p.at(And, s.Cond))
		}
		p.post(s, head)
		p.asked = append(p.asked, p.asking(p.fn, s)...)
		p.loops.within(lp, p.loops.home, func() { p.list(s.Body.List) })
	case *ast.RangeStmt:
		p.expr(s.X, head)
		each := p.behind(s.Body.Lbrace)
		p.expr(s.Key, each)
		p.expr(s.Value, each)
		home := p.loops.home
		if overFunc(p.Info, s) {
			home = s.Body.Lbrace + 1 // the body is a function of its own to the compiler
			p.loops.openBody(p.Inlining.body(p.Fset.Position(s.For)))
		}
		lp := p.loops.loop(s, s.Body, head)
		p.chanRange(s)
		p.loops.within(lp, home, func() { p.list(s.Body.List) })
		if home == s.Body.Lbrace+1 {
			p.loops.closeBody()
		}
	case *ast.SwitchStmt:
		p.switchStmt(s, head)
	case *ast.TypeSwitchStmt:
		p.optional(s.Init, head)
		p.stmt(s.Assign, head)
		for _, c := range s.Body.List {
			p.list(c.(*ast.CaseClause).Body)
		}
	case *ast.SelectStmt:
		p.selectSite(p.fn, s)
		for _, c := range s.Body.List {
			p.comm(c.(*ast.CommClause), head)
		}
	case *ast.GoStmt:
		p.alone = s.Call
		p.call(s.Call, head, spec.PointGo, 0)
		p.syncGo(s)
	case *ast.DeferStmt:
		p.alone = s.Call
		p.call(s.Call, head, spec.PointCall, spec.FlagDeferred)
		p.syncStmt(s, s.Call, p.inList(s, head))
	case *ast.BranchStmt:
		p.loops.leaves(s)
	case *ast.ReturnStmt:
		p.exprs(head, s.Results...)
		p.loops.leaves(s)
	default:
		if p.inList(s, head) {
			p.chanStmt(s)
		}
		p.simple(s, head)
	}
}

// inList reports whether s is a statement of a list, so that other statements may
// stand around it.
func (p *placer) inList(s ast.Stmt, head spot) bool {
	return head.insertion != nil && head.insertion.Form == Before && head.insertion.Pos == s.Pos()
}

func (p *placer) optional(s ast.Stmt, head spot) {
	if s != nil {
		p.stmt(s, head)
	}
}

// simple handles statements that consist of expressions.
func (p *placer) simple(s ast.Stmt, head spot) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		p.dropped = ast.Unparen(s.X)
		p.expr(s.X, head)
		p.syncStmt(s, s.X, p.inList(s, head))
	case *ast.SendStmt:
		p.exprs(head, s.Chan, s.Value)
	case *ast.IncDecStmt:
		p.expr(s.X, head)
	case *ast.AssignStmt:
		p.receiveHead(s)
		p.exprs(head, s.Lhs...)
		p.exprs(head, s.Rhs...)
	case *ast.DeclStmt:
		for _, sp := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := sp.(*ast.ValueSpec); ok {
				p.exprs(head, v.Values...)
			}
		}
	}
}

// afterLabel finds the place of a labeled statement's counters. They follow the
// label, because a goto must reach them too. There is no such place if a break or
// continue names the label, because the label must then stay with its statement.
func (p *placer) afterLabel(s *ast.LabeledStmt, head spot) spot {
	switch s.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		switch {
		case !p.gotos[s.Label.Name]:
			return head
		case p.loops.named[s.Label.Name]:
			return spot{skip: GotoLabel}
		}
	}
	return p.at(Before, s.Stmt)
}

func (p *placer) ifStmt(s *ast.IfStmt, head spot) {
	p.chanIf(s)
	p.optional(s.Init, head)
	p.expr(s.Cond, head)
	p.list(s.Body.List)
	switch e := s.Else.(type) {
	case *ast.IfStmt:
		p.ifStmt(e, p.at(Else, e))
	case *ast.BlockStmt:
		p.list(e.List)
	}
}

func (p *placer) switchStmt(s *ast.SwitchStmt, head spot) {
	p.optional(s.Init, head)
	p.expr(s.Tag, head)
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		for _, e := range c.List {
			if s.Tag == nil {
				p.expr(e, p.at(And, e))
			} else if p.canWrap(e) {
				p.expr(e, p.at(Value, e))
			} else {
				p.expr(e, spot{skip: CaseValue})
			}
		}
		p.list(c.Body)
	}
}

// comm handles a clause of a select. The channels, and the values to send, of all
// clauses are evaluated when the select is entered. The targets of a receive are
// evaluated only if its clause is chosen.
func (p *placer) comm(c *ast.CommClause, head spot) {
	p.chanCase(c)
	switch s := c.Comm.(type) {
	case *ast.AssignStmt:
		p.exprs(p.behind(c.Colon), s.Lhs...)
		p.exprs(head, s.Rhs...)
	case nil:
	default:
		p.stmt(s, head)
	}
	p.list(c.Body)
}

// behind returns the place after a brace or colon.
func (p *placer) behind(pos token.Pos) spot { return p.insertion(Before, pos+1, pos+1) }

// post places the calls of a loop's post statement. This needs a place for a statement
// before the loop, which resets the variable.
func (p *placer) post(s *ast.ForStmt, head spot) {
	if s.Post == nil {
		return
	}
	if head.skip != 0 {
		p.stmt(s.Post, spot{skip: PostStatement})
		return
	}
	a := &Insertion{Form: Value} // the callee cannot be found there
	p.stmt(s.Post, spot{insertion: a})
	if len(a.Points) > 0 {
		p.fn.Probes.Posts = append(p.fn.Probes.Posts, &Post{a.Points, len(p.gotos) > 0, p.loops.home,
			head.insertion.Pos, s.Body.Lbrace + 1, s.Cond})
	}
}

// canWrap reports whether a call of a generic function can replace e and return its
// value. It cannot replace an untyped bool, which would get a type.
func (p *placer) canWrap(e ast.Expr) bool {
	t := p.Info.TypeOf(e)
	if !p.generics() {
		return false
	}
	switch ast.Unparen(e).(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr:
		return t == types.Typ[types.Bool] || !types.Identical(t.Underlying(), types.Typ[types.Bool])
	}
	return t != nil
}

// generics reports whether the package may use generic functions.
func (p *placer) generics() bool {
	v := p.Types.GoVersion()
	return v == "" || version.Compare(v, "go1.18") >= 0
}

func (p *placer) exprs(head spot, list ...ast.Expr) {
	for _, e := range list {
		p.expr(e, head)
	}
}

// expr places the calls that evaluating e makes. It ignores the bodies of literals,
// which are functions of their own.
func (p *placer) expr(e ast.Expr, head spot) {
	if e == nil {
		return
	}
	if tv, ok := p.Info.Types[e]; ok && (tv.IsType() || tv.Value != nil) {
		return // nothing is evaluated
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		p.expr(e.X, head)
		if e.Op == token.LAND || e.Op == token.LOR {
			head = p.at(And, e.Y)
		}
		p.expr(e.Y, head)
	case *ast.CallExpr:
		p.call(e, head, spec.PointCall, 0)
	case *ast.CompositeLit:
		p.exprs(head, e.Elts...)
	case *ast.KeyValueExpr:
		p.exprs(head, e.Key, e.Value)
	case *ast.ParenExpr:
		p.expr(e.X, head)
	case *ast.SelectorExpr:
		p.expr(e.X, head)
		p.methodUse(e)
	case *ast.IndexExpr:
		p.exprs(head, e.X, e.Index)
	case *ast.IndexListExpr:
		p.expr(e.X, head)
	case *ast.SliceExpr:
		p.exprs(head, e.X, e.Low, e.High, e.Max)
	case *ast.TypeAssertExpr:
		p.expr(e.X, head)
	case *ast.StarExpr:
		p.expr(e.X, head)
	case *ast.UnaryExpr:
		p.expr(e.X, head)
		if e.Op == token.ARROW {
			head.doubt()
			p.receiveValue(e)
		}
	}
}

// call places c and the calls that evaluating its operands makes.
func (p *placer) call(c *ast.CallExpr, head spot, kind string, flags uint32) {
	fun := p.Info.Types[c.Fun]
	if fun.IsBuiltin() && isUnsafe(p.Info, c.Fun) {
		return // unsafe.Sizeof and the like do not evaluate their operands
	}
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
		p.expr(sel.X, head)
	} else {
		p.expr(c.Fun, head)
	}
	p.exprs(head, c.Args...)
	if fun.IsType() || fun.IsBuiltin() {
		return
	}
	p.tryLock(c)
	if !p.Limits.has(Calls) {
		return
	}
	name, dynamic := p.callee(c)
	if lit, ok := ast.Unparen(c.Fun).(*ast.FuncLit); ok && p.literals[lit].Skip == Dead {
		head.skip = Dead
	}
	switch {
	case kind == spec.PointCall && flags == 0 && p.intrinsic(c):
		head.skip = Intrinsic
	case p.fn.Bodies.few:
		head.skip = TooLarge
	}
	if head.skip != 0 {
		p.skip(p.fn, c.Pos(), kind, name, head.skip)
		return
	}
	if kind == spec.PointCall && p.Limits.leavesOut(name) {
		p.skip(p.fn, c.Pos(), kind, name, LeftOut)
	} else {
		p.count(c, head.insertion, kind, name, flags, dynamic)
	}
	if !p.returns(c) {
		head.doubt()
	}
}

// doubt notes that what follows at a place may not be reached.
func (s spot) doubt() {
	if s.insertion != nil {
		s.insertion.unsure = true
	}
}

// count makes c a point. The point has a counter unless another call at the insertion
// has one, because the calls of an insertion are reached together. A call whose callee is
// found at run time always has its own.
func (p *placer) count(c *ast.CallExpr, a *Insertion, kind, name string, flags uint32, dynamic bool) {
	n := uint32(len(p.set.Points))
	at := c.Lparen
	if kind == spec.PointGo {
		at = c.Pos() // in the line of the goroutine's creation, as the compiler has it
	}
	var told bool
	if dynamic {
		flags |= spec.FlagDynamic
		var d Dynamic
		if d, told = p.dynamic(c, a); told {
			p.set.Dynamic[n] = d
		}
	}
	if follows := !told && a.representative != nil; follows {
		pt := p.add(p.fn, at, kind, name)
		pt.Flags, pt.Representative = flags, *a.representative
		p.noteCounted(c, a, pt)
		return
	}
	if p.counters++; p.counters > mostCounters {
		delete(p.set.Dynamic, n)
		p.skip(p.fn, c.Pos(), kind, name, Crowded)
		return
	}
	if !p.loops.room(1) {
		delete(p.set.Dynamic, n)
		p.skip(p.fn, c.Pos(), kind, name, Inline)
		return
	}
	pt := p.add(p.fn, at, kind, name)
	pt.Flags = flags
	p.noteCounted(c, a, pt)
	if !told {
		a.representative = &n
	}
	a.Points = append(a.Points, n)
}

// noteCounted notes for the function that c calls that this call is counted, see sumSmall. It is
// not if an earlier call at the same place may panic: the counter stands before both.
func (p *placer) noteCounted(c *ast.CallExpr, a *Insertion, pt *Point) {
	if fn := typeutil.StaticCallee(p.Info, c); fn != nil && pt.Kind == spec.PointCall &&
		pt.Flags&spec.FlagDeferred == 0 && !a.unsure {
		p.counted[fn.Origin()]++
	}
}

// callee names the function that c calls, if it is known before run time.
func (p *placer) callee(c *ast.CallExpr) (name string, dynamic bool) {
	if lit, ok := ast.Unparen(c.Fun).(*ast.FuncLit); ok {
		return p.called(p.literals[lit].Name), false
	}
	if lit := p.closure(c.Fun); lit != nil && p.literals[lit] != nil {
		return p.called(p.literals[lit].Name), false
	}
	if fn := typeutil.StaticCallee(p.Info, c); fn != nil {
		return p.called(symbol(fn.Origin())), false
	}
	return "", true
}

func isUnsafe(info *types.Info, fun ast.Expr) bool {
	sel, ok := ast.Unparen(fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	b, ok := info.Uses[sel.Sel].(*types.Builtin)
	if !ok {
		return false
	}
	switch b.Name() {
	case "Sizeof", "Alignof", "Offsetof":
		return true
	}
	return false
}
