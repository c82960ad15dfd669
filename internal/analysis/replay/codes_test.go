package replay

import (
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A frame of the tool's is a probe of the procedure below it, unless it asks the system. Procedures
// that probes run on top of are none.
func TestIsProbe(t *testing.T) {
	t.Parallel()
	tables := &trace.Tables{Program: trace.Program{
		Points: []trace.Point{{Kind: spec.PointProc, Name: "main.f"}},
		Codes: []trace.Code{{}, {From: 0, Function: "main.f", Line: 3}, {From: 1, Function: "qinst_enter"},
			{From: 2, Function: "runtime.qinstTrace"},
			{From: 3, Function: "runtime.futex"}, {From: 1, Function: "runtime.mallocgc"},
			{From: 2, Function: "main.f", Line: 4}, {From: 5, Function: "main.f-range1", Line: 9}},
	}}
	c := newCodes(tables)
	for code, want := range []bool{false, false, true, true, false, false, false, false} {
		if got := c.isProbe(trace.CodeID(code)); got != want {
			t.Errorf("code %d: %v, expected %v", code, got, want)
		}
	}
	for code, want := range []int{0, 3, 3, 3, 3, 3, 4, 9} {
		if got, ok := c.lineIn(trace.CodeID(code), 0); got != want || ok != (want > 0) {
			t.Errorf("code %d: line %d, expected %d", code, got, want)
		}
	}
}
