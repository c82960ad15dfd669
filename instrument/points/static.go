package points

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// staticBool reports whether the compiler takes a condition as always true (+1),
// always false (-1) or neither (0). It follows pkgWriter.staticBool in
// cmd/compile/internal/noder also for negation, which does not invert there.
func staticBool(info *types.Info, e ast.Expr) int {
	if v := info.Types[e].Value; v != nil && v.Kind() == constant.Bool {
		if constant.BoolVal(v) {
			return +1
		}
		return -1
	}
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.LAND && b.Op != token.LOR {
		return 0
	}
	decides := -1 // the value of one operand that decides
	if b.Op == token.LOR {
		decides = +1
	}
	x := staticBool(info, b.X)
	if x == decides {
		return x
	}
	if y := staticBool(info, b.Y); x == -decides || y == decides {
		return y
	}
	return 0
}

// staticClause finds the clause that a switch over constants always takes, nil if
// there is none. The compiler compiles no other clause. The search gives up if a case
// is not constant or if the clause falls through.
func staticClause(info *types.Info, s *ast.SwitchStmt) (target ast.Stmt, ok bool) {
	tag := constant.MakeBool(true)
	if s.Tag != nil {
		tag = info.Types[s.Tag].Value
	}
	if tag == nil {
		return nil, false
	}
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			target = c
		}
		for _, e := range c.List {
			v := info.Types[e].Value
			if v == nil {
				return nil, false
			}
			if constant.Compare(tag, token.EQL, v) {
				return c, !fallsThrough(c)
			}
		}
	}
	if target == nil {
		return nil, true
	}
	return target, !fallsThrough(target.(*ast.CaseClause))
}

func fallsThrough(c *ast.CaseClause) bool {
	if len(c.Body) == 0 {
		return false
	}
	b, ok := c.Body[len(c.Body)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.FALLTHROUGH
}
