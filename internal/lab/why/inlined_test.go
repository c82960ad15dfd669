package why

import (
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// TestCallsOfInlined: counted calls of an inlined function are its calls. Inside another inlined
// function it has the calls of that one.
func TestCallsOfInlined(t *testing.T) {
	t.Parallel()
	point := func(kind, name string, owner trace.PointID, hits uint64) trace.Point {
		p := trace.Point{Kind: kind, Name: name, Owner: owner}
		p.Hits = hits
		return p
	}
	tables := &trace.Trace{}
	tables.Points = []trace.Point{
		point(spec.PointProc, "main.main", 0, 1),
		point(spec.PointFunc, "main.decode", 1, 0),
		point(spec.PointFunc, "main.next", 2, 0),
		point(spec.PointCall, "main.decode", 0, 7),
		point(spec.PointCall, "main.decode", 0, 2),
		point(spec.PointCall, "main.next", 1, 0), // called by main.decode
		point(spec.PointCall, "main.work", 2, 0), // called by main.next
		point(spec.PointCall, "main.none", 99, 0),
	}
	got := callsOfInlined(tables.Tables())
	for name, want := range map[string]float64{"main.decode": 9, "main.next": 9, "main.work": 9, "main.none": 0} {
		if got[name] != want {
			t.Errorf("%s: found %v calls, expected %v", name, got[name], want)
		}
	}
}
