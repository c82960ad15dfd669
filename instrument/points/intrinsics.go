package points

import (
	"go/ast"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// The compiler replaces some functions of the standard library by an instruction or a few, see
// cmd/compile/internal/ssagen/intrinsics.go, and inlines others that are not much else. Nothing of
// a call of these is left in the program, and a counter would cost more than they do.

// calledStill are the functions of packages sync/atomic and math/bits that remain calls, on some
// machine that programs with probes are built for.
var calledStill = []string{
	"sync/atomic.StorePointer", "sync/atomic.SwapPointer", "sync/atomic.CompareAndSwapPointer",
	"sync/atomic.(*Pointer[...]).Store", "sync/atomic.(*Pointer[...]).Swap",
	"sync/atomic.(*Pointer[...]).CompareAndSwap",
	"sync/atomic.(*Value).Store", "sync/atomic.(*Value).Swap", "sync/atomic.(*Value).CompareAndSwap",
	"math/bits.Div", "math/bits.Div64", "math/bits.Rem", "math/bits.Rem64",
}

// inMath are functions of package math, most of which are called.
var inMath = []string{
	"Abs", "Ceil", "Copysign", "FMA", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits",
	"Floor", "Inf", "IsInf", "IsNaN", "NaN", "RoundToEven", "Signbit", "Sqrt", "Trunc",
}

// intrinsic reports whether nothing of a call is left in the program.
func (f *finder) intrinsic(c *ast.CallExpr) bool {
	fn := typeutil.StaticCallee(f.Info, c)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	switch fn.Pkg().Path() {
	case "sync/atomic", "math/bits":
		return f.Inlining.on() && !slices.Contains(calledStill, symbol(fn.Origin()))
	case "math":
		return f.Inlining.on() && slices.Contains(inMath, fn.Name())
	}
	return false
}
