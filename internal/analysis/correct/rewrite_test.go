package correct_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// rewritten is a trace with corrected times, which keeps every promise that traces make.
func rewritten(t *testing.T, b *tracetest.Builder) (before, after *trace.Trace, r *correct.Result) {
	t.Helper()
	before = b.Trace()
	var file bytes.Buffer
	r, err := correct.New(before, correct.Options{Out: &file})
	if err != nil {
		t.Fatal(err)
	}
	after, err = trace.New(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err == nil {
		err = tracetest.Validate(after)
	}
	if err != nil {
		t.Fatal(err)
	}
	return before, after, r
}

// deeds are what each goroutine did itself, in its order.
func deeds(t *testing.T, source trace.Source) map[trace.GoID][]string {
	t.Helper()
	list := map[trace.GoID][]string{}
	_, err := source.Events(func(events []trace.Event) error {
		for i := range events {
			switch e := &events[i]; e.Kind {
			case trace.Enter, trace.Exit, trace.Sync, trace.Record:
				list[e.G] = append(list[e.G], fmt.Sprint(e.Kind, e.Point()))
			case trace.Trips:
				list[e.G] = append(list[e.G], fmt.Sprint("trips", e.Count()))
			case trace.Region, trace.Named, trace.Labeled, trace.Task:
				list[e.G] = append(list[e.G], fmt.Sprint(e.Kind, e.Text(), e.Begins()))
			case trace.Create:
				list[e.G] = append(list[e.G], fmt.Sprint("created", e.Creation().Start))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// In a corrected trace each goroutine does what it did, in its order, and as many run as there are
// processors; only what it had not yet done when the program ended is not there.
func TestRandom(t *testing.T) {
	t.Parallel()
	for i := range uint64(tracetest.Cases(1000)) {
		r := rand.New(rand.NewPCG(i, 1))
		b := tracetest.Random(r.IntN)
		b.Attribute("clock_cost_ps", uint64(r.IntN(100_000)))
		before, after, c := rewritten(t, b)
		want, got := deeds(t, before), deeds(t, after)
		short := false
		for g, list := range want {
			if n := len(got[g]); n > len(list) || !slices.Equal(got[g], list[:n]) {
				t.Fatalf("trace %d: goroutine %d did %v, expected the first of %v", i, g, got[g], list)
			} else if n < len(list) {
				short = true
			}
		}
		if told := strings.Contains(strings.Join(c.Remarks.All(), ""), "not in the corrected trace"); short && !told {
			t.Fatalf("trace %d: not all was done, and no note says so: %v", i, c.Remarks.All())
		}
	}
}

// A lock has one holder at a time in corrected time, too, and each send is before what receives it.
func TestHolders(t *testing.T) {
	t.Parallel()
	for i := range uint64(tracetest.Cases(500)) {
		r := rand.New(rand.NewPCG(i, 2))
		var threads []tracetest.Thread
		for g := range 2 + r.IntN(5) {
			name := fmt.Sprint("main.f", g)
			var ops []tracetest.Op
			for range 1 + r.IntN(20) {
				ops = append(ops, tracetest.Do(name, r.Int64N(10*us)))
				mu := fmt.Sprint("main.mu", r.IntN(2))
				ops = append(ops, tracetest.Lock(mu), tracetest.Do("main.held", r.Int64N(3*us)), tracetest.Unlock(mu))
				if ops = append(ops, tracetest.Signal("main.c")); r.IntN(2) == 0 {
					ops = append(ops, tracetest.Wait("main.c"))
				}
			}
			threads = append(threads, tracetest.Thread{Name: name, Ops: ops})
		}
		b := priced(1 + r.IntN(3))
		b.Operations = true
		before, after, _ := rewritten(t, tracetest.SimulateOn(b, threads))
		if want, got := deeds(t, before), deeds(t, after); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("trace %d: not all was done, in its order", i)
		}
		holders, sent := map[string]trace.GoID{}, 0
		_, err := after.Events(func(events []trace.Event) error {
			for k := range events {
				e := &events[k]
				if e.Kind != trace.Sync {
					continue
				}
				p := &after.Points[e.Point()]
				switch p.Op {
				case spec.OpLock:
					if by := holders[p.Name]; by != 0 {
						return fmt.Errorf("%d: %s is taken by %d while %d has it", e.Time, p.Name, e.G, by)
					}
					holders[p.Name] = e.G
				case spec.OpUnlock:
					if by := holders[p.Name]; by != e.G {
						return fmt.Errorf("%d: %s is given back by %d while %d has it", e.Time, p.Name, e.G, by)
					}
					holders[p.Name] = 0
				case spec.OpSend:
					sent++
				case spec.OpReceive:
					if sent--; sent < 0 {
						return fmt.Errorf("%d: %d receives what nobody has sent", e.Time, e.G)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("trace %d: %v", i, err)
		}
	}
}
