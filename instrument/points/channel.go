package points

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"qinst.dev/sddf/spec"
)

// received returns e if the whole expression is a receive.
func received(e ast.Expr) *ast.UnaryExpr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return u
	}
	return nil
}

// receiver returns the receive that a statement performs last, before it assigns.
func receiver(s ast.Stmt) *ast.UnaryExpr {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return received(s.X)
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			return received(s.Rhs[0])
		}
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); len(d.Specs) == 1 {
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok && len(v.Values) == 1 {
				return received(v.Values[0])
			}
		}
	}
	return nil
}

// receive makes a sync point of a receive that its statement performs last, before
// it assigns.
func (p *placer) receive(y *Sync, pos token.Pos, u *ast.UnaryExpr) {
	p.taken[u] = true
	p.syncPoint(y, pos, spec.OpReceive, p.objectName(u.X), p.isParameter(u.X))
}

// receiveValue makes a receive within an expression a sync point. A call of a generic
// function replaces the receive and returns its value.
func (p *placer) receiveValue(u *ast.UnaryExpr) {
	switch {
	case p.taken[u] || !p.Limits.has(Syncs):
	case p.generics():
		p.receive(&Sync{Form: ChanValue, Pos: u.Pos(), End: u.End()}, u.Pos(), u)
	default:
		p.skip(p.fn, u.Pos(), spec.PointSync, p.objectName(u.X), InExpression)
	}
}

// receiveHead skips a receive of two values in the head of a statement, because no
// probe can follow it.
func (p *placer) receiveHead(s ast.Stmt) {
	if u := receiver(s); u != nil && !p.taken[u] && twoValues(s) {
		p.taken[u] = true
		p.skip(p.fn, u.Pos(), spec.PointSync, p.objectName(u.X), InHeader)
	}
}

func twoValues(s ast.Stmt) bool {
	a, ok := s.(*ast.AssignStmt)
	return ok && len(a.Lhs) == 2
}

// chanStmt makes a sync point of a statement in a list that sends or receives.
func (p *placer) chanStmt(s ast.Stmt) {
	y := &Sync{Form: ChanAfter, Pos: s.Pos(), End: s.End()}
	if send, ok := s.(*ast.SendStmt); ok {
		p.syncPoint(y, send.Arrow, spec.OpSend, p.objectName(send.Chan), p.isParameter(send.Chan))
	} else if u := receiver(s); u != nil {
		p.receive(y, s.Pos(), u)
	}
}

// chanIf handles a receive in the init statement of an if.
func (p *placer) chanIf(s *ast.IfStmt) {
	if s.Init == nil {
		return
	}
	if u := receiver(s.Init); u != nil {
		p.receive(&Sync{Form: ChanCond, Pos: s.Cond.Pos(), End: s.Cond.End()}, s.Init.Pos(), u)
	}
}

// chanRange handles a range over a channel. Each element is a receive.
func (p *placer) chanRange(s *ast.RangeStmt) {
	t := p.Info.TypeOf(s.X)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Chan); ok {
		y := &Sync{Form: ChanInside, Pos: s.Body.Lbrace + 1}
		p.syncPoint(y, s.Pos(), spec.OpReceive, p.objectName(s.X), p.isParameter(s.X))
	}
}

// chanCase handles the operation of a select clause, which happens if the select
// chooses the clause.
func (p *placer) chanCase(c *ast.CommClause) {
	y, first := &Sync{Form: ChanInside, Pos: c.Colon + 1}, len(p.set.Points)
	switch s := c.Comm.(type) {
	case nil:
		y.Form = ChanCount
		p.syncPoint(y, c.Pos(), spec.OpDefault, "select", false)
	case *ast.SendStmt:
		p.syncPoint(y, c.Pos(), spec.OpSend, p.objectName(s.Chan), p.isParameter(s.Chan))
	default:
		if u := receiver(s); u != nil {
			p.receive(y, c.Pos(), u)
		}
	}
	if slices.Contains(p.asked, c) && len(p.set.Points) > first {
		p.set.Points[first].Flags |= spec.FlagAsks
	}
}
