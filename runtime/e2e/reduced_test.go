package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// calledIn is how often program "reduced" calls its procedures.
func calledIn(n uint64) map[string]uint64 {
	return map[string]uint64{"main.fib": 16 * n * 15, "main.leaf": 16*n*12 + n, "main.loops": 16 * n,
		"main.fails":    16 * n * 4,
		"main.recovers": 16 * n, "main.leaves": n, "main.worker": 16}
}

// TestReduced compares what extensions make of a running program's events with its own
// counts.
func TestReduced(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "reduced")
	for _, test := range []struct {
		name, extensions, reduced string
		n                         uint64
		check                     func(t *testing.T, r *reducedRun)
	}{
		{"profile", "profile", "", 300, func(t *testing.T, r *reducedRun) {
			r.profiled(t)
		}},
		{"several", "lifetimes+transitions+locks+goroutines+heavy+profile", "", 300, func(t *testing.T, r *reducedRun) {
			r.profiled(t)
			for _, e := range r.Extensions {
				if e.Failed != "" || e.Seen == 0 || e.Emitted == 0 {
					t.Errorf("%+v", e)
				}
			}
			if n := uint64(len(r.records(t, "procedure profile"))); n == 0 ||
				!slices.Contains(r.Own, trace.OwnRecords{Name: "procedure profile", N: n}) {
				t.Errorf("%d records of procedures, expected as many in %v", n, r.Own)
			}
			for _, p := range r.records(t, "goroutine lifetimes") {
				name, _ := sddf.Field[string](p, "function")
				created, _ := sddf.Field[uint64](p, "created")
				ended, _ := sddf.Field[uint64](p, "ended")
				if name == "sync.(*WaitGroup).Go.func1" && (created != 16+r.n || ended != created) {
					t.Errorf("%s: %d created, %d ended", name, created, ended)
				}
			}
		}},
		{"sample", "sample:10", "", 300, func(t *testing.T, r *reducedRun) {
			if left := r.entered["main.fib"]; left < r.point("main.fib").Traced/10 ||
				left > r.point("main.fib").Traced/10+1 {
				t.Errorf("%d of %d calls are left, expected a tenth", left, r.point("main.fib").Traced)
			}
		}},
		{"windows and outliers", "windows:10ms+outliers:p90", "", 300, func(t *testing.T, r *reducedRun) {
			if r.entered["main.fib"] != 0 {
				t.Errorf("%d calls are left", r.entered["main.fib"])
			}
		}},
		{"own", "", "yes", 300, func(t *testing.T, r *reducedRun) {
			total := r.total(t)
			var entered uint64
			for i := range r.Points {
				if p := &r.Points[i]; p.Kind == spec.PointProc || p.Kind == spec.PointLoop {
					entered += p.Traced
				}
			}
			if entered != total.Entered || !total.Last || total.Flushes == 0 {
				t.Errorf("it counted %d entries, the trace has %d; %+v", total.Entered, entered, total)
			}
		}},
		{"panics", "profile", "panics", 300, func(t *testing.T, r *reducedRun) {
			if want := "qinst: extension counter is not called any more: panic: runtime error"; strings.Count(r.out,
				want) != 1 {
				t.Errorf("no %q once in %q", want, r.out)
			}
			r.profiled(t)
			for _, e := range r.Extensions {
				if failed := strings.HasPrefix(e.Failed, "panic: "); failed != (e.Name == "counter") {
					t.Errorf("%+v", e)
				}
			}
		}},
		{"slow", "", "slow", 1000, func(t *testing.T, r *reducedRun) {}},
		{"hangs", "", "hangs", 300, func(t *testing.T, r *reducedRun) {
			if want := "qinst: an extension does not come to its end"; !strings.Contains(r.out, want) {
				t.Errorf("no %q in %q", want, r.out)
			}
		}},
		{"unknown", "profil+profile:9+sample", "", 10, func(t *testing.T, r *reducedRun) {
			for _, want := range []string{`found the extension "profil", expected one of profile, lifetimes`,
				`extension profile: found the option "9", expected none`,
				"extension sample: found \"\", expected a number"} {
				if !strings.Contains(r.out, want) {
					t.Errorf("no %q in %q", want, r.out)
				}
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tr, out := e2e.Traced(t, exec.Command(program, fmt.Sprint(test.n)), "QINST=extensions="+test.extensions,
				"REDUCED="+test.reduced)
			r := &reducedRun{Trace: tr, n: test.n, out: out, entered: map[string]uint64{}}
			r.conserves(t)
			test.check(t, r)
		})
	}
}

// TestReducedEnds: however a program ends by itself, extensions come to their end; where
// they cannot, what they have not dropped is there.
func TestReducedEnds(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "reduced")
	for _, test := range []struct {
		how  string
		last bool
	}{{"panic", true}, {"exit", true}, {"exec", true}, {"deadlock", false}} {
		t.Run(test.how, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "e.sddf")
			cmd := exec.Command(program, "100", test.how)
			cmd.Env = append(os.Environ(), "QINST=limit=0,budget=off,extensions=profile,out="+file)
			if out, err := cmd.CombinedOutput(); err != nil && test.how == "exec" {
				t.Fatalf("%v\n%s", err, out)
			}
			tr, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			r := &reducedRun{Trace: tr, n: 100, entered: map[string]uint64{}}
			if test.last {
				r.conserves(t)
				if len(r.records(t, "procedure profile")) == 0 && test.how != "exec" {
					// for a process that may go on, too
					t.Error("no profile")
				}
				return
			}
			losses, err := r.Events(func([]trace.Event) error { return nil })
			losses.StrayExits = 0               // of entries that are dropped
			losses.Events, losses.States = 0, 0 // the ring may be full of events that extensions have not seen
			if err != nil || losses.Any() {
				t.Errorf("%v, %+v", err, losses)
			}
		})
	}
}

type reducedRun struct {
	*trace.Trace
	n       uint64
	out     string
	entered map[string]uint64 // that the file has
}

func (r *reducedRun) point(name string) *trace.Point {
	for i := range r.Points {
		if p := &r.Points[i]; p.Kind == spec.PointProc && p.Name == name {
			return p
		}
	}
	return &trace.Point{}
}

// conserves checks that every hit is traced or counted, and that every traced event is in the file
// or was taken out.
func (r *reducedRun) conserves(t *testing.T) {
	t.Helper()
	if err := tracetest.Validate(r.Trace); err != nil {
		t.Error(err)
	}
	entered := make([]uint64, len(r.Points))
	losses, err := r.Events(func(events []trace.Event) error {
		for i := range events {
			if e := &events[i]; e.Kind == trace.Enter || e.Kind == trace.Sync || e.Kind == trace.Record {
				entered[e.Point()]++
			}
		}
		return nil
	})
	if err != nil || losses.Any() {
		t.Errorf("%v, %+v", err, losses)
	}
	for name, n := range calledIn(r.n) {
		if p := r.point(name); p.Hits != n {
			t.Errorf("%s: %d hits, expected %d", name, p.Hits, n)
		}
	}
	for i := range r.Points {
		p := &r.Points[i]
		if p.Kind == spec.PointProc {
			r.entered[p.Name] = entered[i]
		}
		if p.Traceable() && (p.Traced != entered[i]+p.Reduced || p.Traced > p.Hits) {
			t.Errorf("%s: %d hits, %d traced, %d in the file, %d taken out", p.Name, p.Hits, p.Traced, entered[i],
				p.Reduced)
		}
	}
}

func (r *reducedRun) records(t *testing.T, name string) (list []*sddf.Packet) {
	t.Helper()
	file, err := os.ReadFile(r.File.Path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := sddf.NewReader(strings.NewReader(string(file)), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	reader.Only(map[string][]string{name: nil})
	for p, err := range reader.Records() {
		if err != nil {
			t.Fatal(err)
		}
		q := *p
		q.Values = append([]any(nil), p.Values...)
		list = append(list, &q)
	}
	return list
}

// profiled compares the profile's calls with the traced events.
func (r *reducedRun) profiled(t *testing.T) {
	t.Helper()
	calls := map[string]uint64{}
	for _, p := range r.records(t, "procedure profile") {
		i, _ := sddf.Field[uint64](p, "procedure")
		calls[r.Points[i].Name], _ = sddf.Field[uint64](p, "calls")
	}
	for name := range calledIn(r.n) {
		if p := r.point(name); calls[name] != p.Traced || p.Reduced != p.Traced {
			t.Errorf("%s: %d calls in the profile, %d taken out, %d traced", name, calls[name], p.Reduced, p.Traced)
		}
	}
}

type total struct {
	Entered, Ended, Flushes uint64
	Last                    bool
}

func (r *reducedRun) total(t *testing.T) (v total) {
	t.Helper()
	list := r.records(t, "total")
	if len(list) == 0 {
		t.Fatal("no total")
	}
	p := list[len(list)-1]
	v.Entered, _ = sddf.Field[uint64](p, "entered")
	v.Ended, _ = sddf.Field[uint64](p, "ended")
	v.Flushes, _ = sddf.Field[uint64](p, "flushes")
	v.Last, _ = sddf.Field[bool](p, "last")
	return v
}
