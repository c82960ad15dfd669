package points

import (
	"go/ast"
	"go/token"

	"qinst.dev/sddf/spec"
)

// gotoLoop makes a loop of the statements from a label to the last goto back to it.
// They are a loop if all of them stand in one list and no other statement jumps to
// the label. It returns the number of statements that the loop takes from the list.
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
	lp = &Loop{Gotos: true, Home: l.home, Start: label.Pos(), Body: label.Colon + 1, Spin: l.spins.is(n),
		from: label.Pos()}
	why := SkipReason(0)
	switch label.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		why = GotoLabel // the label belongs to the statement, so that no probe can stand between
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
	if !l.ends(last) {
		lp.End = lp.to
	}
	l.point(lp, label.Pos(), name)
	l.depth++
	return lp, taken
}

// ends reports whether s is a terminating statement of the language specification. Control
// does not come after such a statement. It may end a function, but a probe after it
// would take that away.
func (l *looper) ends(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return l.ends(s.Stmt)
	case *ast.BlockStmt:
		return l.listEnds(s.List)
	case *ast.IfStmt:
		return s.Else != nil && l.ends(s.Body) && l.ends(s.Else)
	case *ast.ForStmt:
		return s.Cond == nil && !l.breaks[s]
	case *ast.SwitchStmt:
		return !l.breaks[s] && l.clausesEnd(s.Body, false)
	case *ast.TypeSwitchStmt:
		return !l.breaks[s] && l.clausesEnd(s.Body, false)
	case *ast.SelectStmt:
		return !l.breaks[s] && l.clausesEnd(s.Body, true)
	case *ast.BranchStmt:
		return s.Tok == token.GOTO || s.Tok == token.FALLTHROUGH
	}
	return terminates(l.Info, s) // return and panic
}

func (l *looper) listEnds(list []ast.Stmt) bool {
	last := lastOf(list)
	return last != nil && l.ends(last)
}

// clausesEnd reports whether all clauses end in a terminating statement and one of them is
// always taken. A select always takes one.
func (l *looper) clausesEnd(body *ast.BlockStmt, taken bool) bool {
	for _, c := range body.List {
		var list []ast.Stmt
		switch c := c.(type) {
		case *ast.CaseClause:
			list, taken = c.Body, taken || c.List == nil
		case *ast.CommClause:
			list = c.Body
		}
		if !l.listEnds(list) {
			return false
		}
	}
	return taken
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
