package points

import (
	"go/ast"
	"go/token"
	"slices"
)

// match finds the statement that a natural loop comes from: the innermost statement
// around all its instructions that is not already the origin of a smaller loop.
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

// matchPart is match for a loop that shares its header with a larger one. Such a loop
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

// lastJump returns the end of the last goto to a label, if it is after the label.
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

// findBreaks notes the statements that a break leaves. inner is the statement that a
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
