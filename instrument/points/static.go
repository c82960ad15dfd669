package points

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// staticBool tells whether the compiler takes a condition as always true (+1),
// always false (-1) or neither (0). See pkgWriter.staticBool in
// cmd/compile/internal/noder, negation included: that one does not invert.
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
