package points

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// Loop is a loop with probes at its entry and its exits.
type Loop struct {
	Point uint32
	Spin  bool      // entered with the second iteration, because the first one does not wait
	Func  bool      // ranges over a function
	Twice bool      // its body stands twice where the probes are
	Waits bool      // it may wait, or calls who may: an iteration then does not stand for another
	Deep  bool      // left from within the body of such a range: iterations are counted in the profile stack
	Gotos bool      // its function has gotos, so that its variables are declared at Home
	Home  token.Pos // after the opening brace of what it stands in

	Start token.Pos // the entry stands before this
	Body  token.Pos // statements for each iteration stand here
	End   token.Pos // the exit follows this; NoPos if control does not come there

	from, to token.Pos      // its statements
	block    *ast.BlockStmt // its body, nil if it is made of gotos
	inlines  bool           // of one that stands twice: the compiler inlines calls in it
}

// Leave is a statement by which control leaves loops: return, break, continue
// and goto.
type Leave struct {
	Stmt  ast.Stmt
	Loops []*Loop // innermost first
}

// shortBody is the least number of instructions in the body of a probed loop. A pair of
// probes takes the time of a hundred instructions; they are counted in the SSA form,
// without jumps. A shorter loop is probed if it spins, waits, contains a loop or calls a
// function that the compiler does not inline, or one that always does any of that itself,
// because its size then does not show how long it takes.
const shortBody = 40

// looper finds the loops of one function.
type looper struct {
	*finder
	fn      *Func
	gotos   map[string]bool
	natural map[ast.Node]*natural
	open    []*Loop                     // around the statement being walked, outermost first
	labels  map[string]*ast.LabeledStmt // of the function
	labeled map[ast.Stmt]*ast.LabeledStmt
	named   map[string]bool   // labels that a break or continue names
	breaks  map[ast.Stmt]bool // statements that a break leaves
	home    token.Pos
	rooms   []int // room for probes in each body of a range over a function around the statement
	depth   int   // number of loops around the statement being walked, itself included
}

func newLooper(f *finder, fn *Func, gotos map[string]bool) *looper {
	l := &looper{finder: f, fn: fn, gotos: gotos, natural: map[ast.Node]*natural{},
		labels: map[string]*ast.LabeledStmt{}, labeled: map[ast.Stmt]*ast.LabeledStmt{}, named: map[string]bool{},
		breaks: map[ast.Stmt]bool{}, home: fn.Body.Lbrace + 1}
	var loops []ast.Stmt // outer ones first
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Label != nil && n.Tok != token.GOTO {
				l.named[n.Label.Name] = true
			}
		case *ast.LabeledStmt:
			l.labels[n.Label.Name] = n
			l.labeled[n.Stmt] = n
			if gotos[n.Label.Name] {
				loops = append(loops, n)
			}
		case *ast.ForStmt:
			loops = append(loops, n)
		case *ast.RangeStmt:
			if !overFunc(f.Info, n) {
				loops = append(loops, n)
			}
		}
		return true
	})
	if len(loops) == 0 || !f.Limits.has(Loops) {
		return l
	}
	list := slices.Clone(f.naturals(f.ssa[fn.Node]))
	slices.SortStableFunc(list, func(a, b *natural) int { return cmp.Compare(len(a.blocks), len(b.blocks)) })
	for _, n := range list {
		l.match(n, loops)
	}
	for _, n := range list {
		for _, part := range n.parts() {
			l.matchPart(part, loops)
		}
	}
	l.findBreaks(fn.Body, nil)
	return l
}

// loop makes a loop statement a point or a skip. head is the place for a statement
// before it.
func (l *looper) loop(s ast.Stmt, body *ast.BlockStmt, head spot) *Loop {
	if !l.Limits.has(Loops) {
		l.depth++
		return nil
	}
	rng, _ := s.(*ast.RangeStmt)
	overFunc := rng != nil && overFunc(l.Info, rng)
	n := l.natural[s]
	_, ignored := l.told(s, verbIgnore)
	_, forced := l.told(s, verbProbe)
	lp := &Loop{Func: overFunc, Deep: overFunc, Gotos: len(l.gotos) > 0, Home: l.home, Body: body.Lbrace + 1,
		from: s.Pos(), to: s.End(), block: body}
	why := SkipReason(0)
	l.depth++
	switch {
	case ignored:
		why = Ignored
	case !forced && l.Limits.Depth > 0 && l.depth > l.Limits.Depth:
		why = Nested
	case head.skip != 0:
		why = head.skip
	case !forced && !l.room(3):
		why = Inline
	case overFunc && len(l.gotos) > 0:
		why = GotoLabel // a goto may not jump over the variable's declaration
	case !overFunc && l.SSA == nil:
		why = NoSSA
	case !overFunc && n == nil:
		why = NoLoop
	case !overFunc:
		lp.Spin, lp.Waits = l.spins.is(n), n.waits()
		if !forced && !lp.Spin && l.short(s, n) {
			why = ShortLoop
		}
	}
	if why == 0 && l.fn.Bodies.few && !forced && !lp.Spin {
		why = TooLarge
	}
	name := l.name(s, loopName(s))
	if why != 0 {
		l.skip(l.fn, s.Pos(), spec.PointLoop, name, why)
		return nil
	}
	lp.Start = head.insertion.Pos
	if f, ok := s.(*ast.ForStmt); !ok || f.Cond != nil || l.breaks[s] {
		lp.End = s.End()
	}
	l.point(lp, s.Pos(), name)
	return lp
}

// told is directed for a loop, whose directive may also stand before its label.
func (l *looper) told(s ast.Stmt, verb string) (arg string, ok bool) {
	if arg, ok = l.directed(s, verb); !ok && l.labeled[s] != nil {
		return l.directed(l.labeled[s], verb)
	}
	return arg, ok
}

// name returns the name that a directive gives to a loop, or else the given name.
func (l *looper) name(s ast.Stmt, name string) string {
	if arg, _ := l.told(s, verbName); arg != "" {
		return arg
	}
	return name
}

func (l *looper) point(lp *Loop, pos token.Pos, name string) {
	lp.Point = uint32(len(l.set.Points))
	p := l.add(l.fn, pos, spec.PointLoop, name)
	_, p.End = l.place(lp.to - 1)
	if lp.Spin {
		p.Flags |= spec.FlagSpin
	}
	l.fn.Probes.Loops = append(l.fn.Probes.Loops, lp)
}

// waits reports whether a loop may wait, or calls a function, which may.
func (n *natural) waits() bool {
	for in := range n.instrs {
		switch in := in.(type) {
		case *ssa.Send, *ssa.Select, *ssa.Go, *ssa.Defer:
			return true
		case *ssa.UnOp:
			if in.Op == token.ARROW {
				return true
			}
		case *ssa.Call:
			if _, builtin := in.Call.Value.(*ssa.Builtin); !builtin {
				return true
			}
		}
	}
	return false
}

// short reports whether a loop's body is too short to be worth a probe.
func (l *looper) short(s ast.Stmt, n *natural) bool {
	size := 0
	for in := range n.instrs {
		switch in := in.(type) {
		case *ssa.Phi, *ssa.Jump, *ssa.If, *ssa.DebugRef:
			continue
		case *ssa.Send, *ssa.Select, *ssa.Go, *ssa.Defer:
			return false
		case *ssa.UnOp:
			if in.Op == token.ARROW {
				return false
			}
		case *ssa.Call:
			if _, builtin := in.Call.Value.(*ssa.Builtin); !builtin &&
				(!l.Inlining.inlined(l.Fset.Position(in.Pos())) || l.lasts(in)) {
				return false
			}
		}
		size++
	}
	if size >= shortBody {
		return false
	}
	nested := false
	ast.Inspect(s, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			nested = nested || m != ast.Node(s) && l.natural[m] != nil
		}
		return !nested
	})
	return !nested
}

// leaves notes the loops that a statement leaves. If the statement stands in the body
// of a range over a function, it does not leave the loops around the range: they end
// only when the iterator has returned. The exit of a loop further out closes them, or
// the procedure's exit.
func (l *looper) leaves(s ast.Stmt) {
	stays := func(*Loop) bool { return false }
	if b, ok := s.(*ast.BranchStmt); ok {
		if b.Label == nil {
			return // stays in its loop, or goes after it
		}
		target := l.labels[b.Label.Name]
		if b.Tok == token.GOTO {
			stays = func(lp *Loop) bool { return lp.from <= target.Pos() && target.Pos() < lp.to }
		} else {
			stays = func(lp *Loop) bool { return lp.from <= target.Stmt.Pos() }
		}
	}
	var left []*Loop
	for _, lp := range slices.Backward(l.open) {
		switch {
		case stays(lp):
		case lp.Home != l.home:
			lp.Deep = true
		default:
			left = append(left, lp)
		}
	}
	if len(left) > 0 {
		l.fn.Probes.Leaves = append(l.fn.Probes.Leaves, &Leave{s, left})
	}
}

// within walks the statements of a loop; lp is nil if the loop has no probe.
func (l *looper) within(lp *Loop, home token.Pos, walk func()) {
	open, was := l.open, l.home
	if lp != nil {
		l.open = append(slices.Clip(open), lp)
	}
	l.home = home
	walk()
	l.open, l.home = open, was
	l.depth--
}

// loopName returns the name of a loop in reports, which is its head.
func loopName(s ast.Stmt) string {
	name := "for"
	switch s := s.(type) {
	case *ast.RangeStmt:
		name = "range " + types.ExprString(s.X)
	case *ast.ForStmt:
		if s.Cond != nil {
			name = "for " + types.ExprString(s.Cond)
		}
	}
	const most = 48
	if r := []rune(name); len(r) > most {
		name = string(r[:most-3]) + "..."
	}
	return name
}
