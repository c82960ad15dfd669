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
	Spin  bool      // entered with the second iteration: the first one waits for nothing
	Func  bool      // ranges over a function
	Deep  bool      // is left from within the body of such a range: iterations are counted in the profile stack
	Home  token.Pos // where its variables are declared: behind an opening brace

	Start token.Pos // the entry stands before this
	Body  token.Pos // what is done once an iteration
	End   token.Pos // the exit stands behind this; NoPos if control does not come there

	from, to token.Pos // its statements
}

// Leave is a statement by which control leaves loops: return, break, continue
// and goto.
type Leave struct {
	Stmt  ast.Stmt
	Loops []*Loop // innermost first
}

// A loop with fewer instructions in its body is left out, unless it spins, or
// calls what the compiler does not inline, or waits, or contains a loop: then how
// long it takes does not show in its size. Instructions are those of the SSA form
// without jumps; a pair of probes takes the time of a hundred of them.
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
	rooms   []int // for probes in the bodies of ranges over functions around the statement
	depth   int   // loops around the statement being walked, and its own
}

func newLooper(f *finder, fn *Func, gotos map[string]bool) *looper {
	l := &looper{finder: f, fn: fn, gotos: gotos, natural: map[ast.Node]*natural{},
		labels: map[string]*ast.LabeledStmt{}, labeled: map[ast.Stmt]*ast.LabeledStmt{}, named: map[string]bool{}, breaks: map[ast.Stmt]bool{}, home: fn.Body.Lbrace + 1}
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
	list := naturals(f.ssa[fn.Node])
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

// match finds the statement that a natural loop comes from: the innermost one
// around all its instructions that no smaller loop comes from.
func (l *looper) match(n *natural, loops []ast.Stmt) {
	from, to := n.span()
	if !from.IsValid() {
		return
	}
	for _, s := range slices.Backward(loops) {
		if l.spans(s, from, to) && l.natural[s] == nil {
			l.natural[s] = n
			return
		}
	}
}

// matchPart is match for a loop that shares its header with a larger one: it
// comes from the innermost statement around it or from none.
func (l *looper) matchPart(n *natural, loops []ast.Stmt) {
	from, to := n.span()
	for _, s := range slices.Backward(loops) {
		if from.IsValid() && l.spans(s, from, to) {
			if l.natural[s] == nil {
				l.natural[s] = n
			}
			return
		}
	}
}

func (l *looper) spans(s ast.Stmt, from, to token.Pos) bool {
	end := s.End()
	if label, ok := s.(*ast.LabeledStmt); ok {
		end = l.lastJump(label)
	}
	return s.Pos() <= from && to < end
}

// The body of a range over a function is a function to the compiler. One that it
// inlines must stay so: it has room for as many probes as the budget of such
// functions leaves; see cmd/compile/internal/inline, inlineClosureCalledOnceCost.
const (
	bodyBudget = 800
	probeCost  = 70
	unbounded  = 1 << 30
)

// openBody is called before the points in such a body are placed; cost is what the
// compiler says of it, 0 if it is not inlined.
func (l *looper) openBody(cost int) {
	room := unbounded
	if cost > 0 {
		room = 0 // within the budget of any function, and to stay there
		if cost > 80 {
			room = max(0, (bodyBudget-cost)/probeCost)
		}
	}
	l.rooms = append(l.rooms, room)
}

func (l *looper) closeBody() { l.rooms = l.rooms[:len(l.rooms)-1] }

// room takes room for n probes, if there is that much.
func (l *looper) room(n int) bool {
	for _, r := range l.rooms {
		if r < n {
			return false
		}
	}
	for i := range l.rooms {
		l.rooms[i] -= n
	}
	return true
}

// lastJump is the end of the last goto to a label, if it is behind the label.
func (l *looper) lastJump(label *ast.LabeledStmt) (end token.Pos) {
	ast.Inspect(l.fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Tok == token.GOTO && n.Label.Name == label.Label.Name {
				end = n.End()
			}
		}
		return true
	})
	return end
}

// findBreaks notes which statements are left by a break; inner is the one that a
// break without a label leaves.
func (l *looper) findBreaks(n ast.Node, inner ast.Stmt) {
	ast.Inspect(n, func(m ast.Node) bool {
		if m == n || m == nil {
			return true
		}
		switch s := m.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			l.findBreaks(m, s.(ast.Stmt))
			return false
		case *ast.BranchStmt:
			if s.Tok != token.BREAK {
				return false
			}
			if s.Label == nil {
				l.breaks[inner] = true
			} else if t := l.labels[s.Label.Name]; t != nil {
				l.breaks[t.Stmt] = true
			}
		}
		return true
	})
}

// loop makes a loop statement a point, or a skip. head is where a statement
// before it goes.
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
	lp := &Loop{Func: overFunc, Deep: overFunc, Home: l.home, Body: body.Lbrace + 1, from: s.Pos(), to: s.End()}
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
	case !overFunc && n == nil:
		why = NoLoop
	case !overFunc:
		lp.Spin = l.spins.is(n)
		if !forced && !lp.Spin && l.short(s, n) {
			why = ShortLoop
		}
	}
	name := l.name(s, loopName(s))
	if why != 0 {
		l.skip(l.fn, s.Pos(), spec.PointLoop, name, why)
		return nil
	}
	lp.Start = head.anchor.Pos
	if f, ok := s.(*ast.ForStmt); !ok || f.Cond != nil || l.breaks[s] {
		lp.End = s.End()
	}
	l.point(lp, s.Pos(), name)
	return lp
}

// told is directed for a loop: a directive may stand before its label, too.
func (l *looper) told(s ast.Stmt, verb string) (arg string, ok bool) {
	if arg, ok = l.directed(s, verb); !ok && l.labeled[s] != nil {
		return l.directed(l.labeled[s], verb)
	}
	return arg, ok
}

// name is what a directive calls a loop, or else as given.
func (l *looper) name(s ast.Stmt, name string) string {
	if arg, _ := l.told(s, verbName); arg != "" {
		return arg
	}
	return name
}

func (l *looper) point(lp *Loop, pos token.Pos, name string) {
	lp.Point = uint32(len(l.set.Points))
	p := l.add(l.fn, pos, spec.PointLoop, name)
	if lp.Spin {
		p.Flags |= spec.FlagSpin
	}
	l.fn.Loops = append(l.fn.Loops, lp)
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
			if _, builtin := in.Call.Value.(*ssa.Builtin); !builtin && !l.Inlining.inlined(l.Fset.Position(in.Pos())) {
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

// gotoLoop makes the statements from a label to the last goto back to it a loop,
// if they are one: all of them stand in one list, and nothing jumps to the label
// from elsewhere. It returns how many statements of the list it takes.
func (l *looper) gotoLoop(list []ast.Stmt) (lp *Loop, taken int) {
	label, ok := list[0].(*ast.LabeledStmt)
	if !ok || !l.Limits.has(Loops) || l.natural[label] == nil {
		return nil, 0
	}
	total := 0
	for i, s := range list {
		if jumps := jumpsTo(s, label.Label.Name); jumps > 0 {
			taken, total = i+1, total+jumps
		}
	}
	_, ignored := l.told(label, verbIgnore)
	_, forced := l.told(label, verbProbe)
	n := l.natural[label]
	lp = &Loop{Home: l.home, Start: label.Pos(), Body: label.Colon + 1, Spin: l.spins.is(n), from: label.Pos()}
	why := SkipReason(0)
	switch label.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		why = GotoLabel // it belongs to the statement, nothing can stand between
	default:
		switch {
		case ignored:
			why = Ignored
		case taken == 0 || total != jumpsTo(l.fn.Body, label.Label.Name):
			why = GotoLabel
		case !forced && !lp.Spin && l.short(label, n):
			why = ShortLoop
		}
	}
	name := l.name(label, "goto "+label.Label.Name)
	if why != 0 {
		l.skip(l.fn, label.Pos(), spec.PointLoop, name, why)
		return nil, 0
	}
	last := list[taken-1]
	lp.to = last.End()
	if !jumps(last) {
		lp.End = lp.to
	}
	l.point(lp, label.Pos(), name)
	l.depth++
	return lp, taken
}

// jumps reports whether s is a goto, behind which control does not come.
func jumps(s ast.Stmt) bool {
	if label, ok := s.(*ast.LabeledStmt); ok {
		return jumps(label.Stmt)
	}
	b, ok := s.(*ast.BranchStmt)
	return ok && b.Tok == token.GOTO
}

func jumpsTo(n ast.Node, label string) (count int) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Tok == token.GOTO && n.Label.Name == label {
				count++
			}
		}
		return true
	})
	return count
}

// leaves notes which loops a statement leaves. Those around a range over a
// function are not left before its iterator has returned: the exit of a loop
// further out does it, or the procedure's.
func (l *looper) leaves(s ast.Stmt) {
	stays := func(*Loop) bool { return false }
	if b, ok := s.(*ast.BranchStmt); ok {
		if b.Label == nil {
			return // stays in its loop, or goes behind it
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
		l.fn.Leaves = append(l.fn.Leaves, &Leave{s, left})
	}
}

// within walks what stands in a loop; lp is nil if it has no probe.
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

// loopName is how a loop is called in reports: its head.
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
