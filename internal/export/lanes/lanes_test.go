package lanes_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// Slices are nested and end, flows have two ends, and times do not go back.
func TestLanes(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		var r lanestest.Recorder
		if _, _, err := lanes.Show(source, &r); err != nil {
			t.Fatal(err)
		}
		if wrong := r.Check(); len(wrong) > 0 {
			t.Errorf("%d are wrong, the first ones %q", len(wrong), wrong[:min(5, len(wrong))])
		}
	})
}

// A lock's lanes have its holders and the length of its queue.
func TestLock(t *testing.T) {
	source := tracetest.Simulate(2, []tracetest.Thread{
		{Name: "main.a", Ops: []tracetest.Op{tracetest.Lock("main.mu"), tracetest.Do("main.f", 1000),
			tracetest.Unlock("main.mu")}},
		{Name: "main.b", Ops: []tracetest.Op{tracetest.Do("main.g", 500), tracetest.Lock("main.mu"),
			tracetest.Do("main.f", 1000), tracetest.Unlock("main.mu")}},
	}).Trace()
	var r lanestest.Recorder
	if left, _, err := lanes.Show(source, &r); err != nil || left.Locks != 0 {
		t.Fatal(left, err)
	}
	if r.Ended != 2 {
		t.Errorf("%d lanes ended, expected those of 2 goroutines", r.Ended)
	}
	for _, want := range []string{
		`waiting for locks 3458764513820540929 "main.mu: waiting"`,
		`500 3458764513820540929 value 1`,
		`1000 3458764513820540929 value 0`,
		`1000 2305843009213694016 begin held "g3 main.b" flow 0`,
		`500 3 begin wait "sync.Mutex.Lock main.mu" flow 0`,
		`1000 2 wakes flow 1`,
	} {
		if !slices.Contains(r.Shown, want) {
			t.Errorf("did not find %s in %q", want, r.Shown)
		}
	}
}
