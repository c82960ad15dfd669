package points

import (
	"go/ast"
	"go/token"

	"qinst.dev/sddf/spec"
)

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
