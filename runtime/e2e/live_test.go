package e2e_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/internal/trials/oracle"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// The workloads, and where their profile on two processors is a formula: the
// procedures' NPT as shares of their sum (the rest of the run is calibration).
var liveTruth = []struct {
	program string
	args    []string
	calls   map[string]uint64
	npt     map[string]float64
}{
	{"fig4", []string{"-unit", "40ms"},
		map[string]uint64{"main.a": 3, "main.b": 1, "main.c": 2, "main.d": 2, "main.e": 2, "main.f": 1}, nil},
	{"sorter", []string{"-unit", "50ms"},
		map[string]uint64{"main.read": 7, "main.sort": 7, "main.merge": 7},
		map[string]float64{"main.read": (7*.5 - 6*.4/2) / 7.7, "main.sort": (6*.4/2 + .4/2) / 7.7,
			"main.merge": (7*.6 - .4/2) / 7.7}},
	{"logging", []string{"-unit", "6ms"},
		map[string]uint64{"main.input": 1, "main.logging": 1, "main.work": 2},
		map[string]float64{"main.input": 3 / 60.4, "main.logging": 3.4 / 60.4, "main.work": 54 / 60.4}},
	{"imbalance", []string{"-unit", "50ms"},
		map[string]uint64{"main.heavy": 1, "main.light": 1},
		map[string]float64{"main.heavy": (1.5 + 4.5) / 7.5, "main.light": 1.5 / 7.5}},
}

// TestLiveTruth checks on every run what holds on any machine, however loaded: the trace is valid
// and whole, counts are exact, the profile's sums are the run time. The shares are those of the
// formula only if the program had two processors. The trace says whether it had them: only such
// runs are judged, and one of them must be right. A processor that is slowed down beneath the
// operating system leaves no sign in a trace.
func TestLiveTruth(t *testing.T) {
	for _, c := range liveTruth {
		t.Run(c.program, func(t *testing.T) {
			exe := e2e.Build(t, "workloads", c.program)
			judged := 0
			for range 5 {
				tr := e2e.Run(t, "2", exe, c.args...)
				p := checkedProfile(t, tr, c.calls)
				if disturbed(tr, p) {
					continue
				}
				judged++
				worst, none := deviation(p, c.npt), noProcedure(p)
				t.Logf("largest deviation of a share: %.1f %%, in no procedure: %.2f %%", 100*worst, 100*none)
				if worst <= .05 && none <= .01 {
					return
				}
			}
			if judged == 0 {
				t.Log("other programs kept the processors busy: shares not judged")
			} else {
				t.Errorf("none of %d runs is within 5 %% of %v, with at most 1 %% in no procedure", judged, c.npt)
			}
		})
	}
}

// disturbed reports whether other programs took enough of the processors that the shares of a
// formula need not hold. Time that a host took looks like work.
func disturbed(tr *trace.Trace, p *profile.Profile) bool {
	return p.OffCPU+p.Off.Waited() > p.Busy/50 || tr.Steal > p.Busy/50
}

// checkedProfile tests what every run must satisfy.
func checkedProfile(t *testing.T, tr *trace.Trace, calls map[string]uint64) *profile.Profile {
	t.Helper()
	if err := tracetest.Validate(tr); err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	self := p.Idle
	for _, e := range p.Entries {
		if e.Kind == profile.KindProc {
			self += e.SelfNPT
		}
		if want, ok := calls[e.Name]; ok && e.Kind == profile.KindProc && (e.Calls != want || e.Degraded != 0) {
			t.Errorf("%s: %d calls, %d of them degraded, want %d", e.Name, e.Calls, e.Degraded, want)
		}
	}
	roots := p.Idle
	for _, r := range p.Roots {
		roots += r.NPT
	}
	for name, sum := range map[string]int64{"self NPT": self, "NPT of the roots": roots} {
		if math.Abs(float64(sum-p.Wall)) > .005*float64(p.Wall) {
			t.Errorf("%s + idle = %d, wall %d", name, sum, p.Wall)
		}
	}
	if n := len(p.Parallelism) - 1; n > p.Procs {
		t.Errorf("%d processors busy of %d", n, p.Procs)
	}
	used := p.CPU.User + p.CPU.System - p.CPU.Writer
	t.Logf("wall %d, busy %d, off-CPU %d and %d, getrusage %d (%+.2f %%), no procedure %.2f %%", p.Wall, p.Busy,
		p.OffCPU, p.Off.Waited(), used, 100*(float64(p.Busy)/float64(used)-1), 100*noProcedure(p))
	return p
}

// noProcedure is the share of the run time in no procedure.
func noProcedure(p *profile.Profile) float64 {
	for _, e := range p.Entries {
		if e.ID == profile.NoProcedure {
			return float64(e.SelfNPT) / float64(p.Wall)
		}
	}
	return 0
}

// deviation is the largest difference of a share from its formula.
func deviation(p *profile.Profile, npt map[string]float64) float64 {
	got, sum, worst := map[string]float64{}, 0.0, 0.0
	for _, e := range p.Entries {
		if _, ok := npt[e.Name]; ok && e.Kind == profile.KindProc {
			got[e.Name] = float64(e.NPT)
			sum += got[e.Name]
		}
	}
	for name, want := range npt {
		worst = max(worst, math.Abs(got[name]/sum-want))
	}
	return worst
}

// Panics, Goexit and ranges over functions leave procedures without a return.
// The trace has an end for each all the same, at its time.
func TestLivePanics(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "panics")
	for _, procs := range []string{"1", "4"} {
		tr := e2e.Run(t, procs, exe)
		if err := tracetest.Validate(tr); err != nil {
			t.Error(err)
		}
	}
}

// Beside programs that take every processor the report says that the operating system took it away:
// when, if it is asked, or how much of its numbers.
func TestBurner(t *testing.T) {
	exe := e2e.Build(t, "workloads", "imbalance")
	burn(t)
	for os, want := range map[string]string{
		"on":  "WARNING: the operating system took processors from running goroutines for",
		"off": "WARNING: the operating system kept running threads waiting",
	} {
		tr, _ := e2e.Traced(t, exec.Command(exe, "-unit", "30ms"), "GOMAXPROCS=2", "QINST=os="+os)
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := report.Page(tr, advice.Gather(tr, p)).WriteText(&page); err != nil {
			t.Fatal(err)
		}
		lost := p.OffCPU
		if tr.Switches() {
			lost += p.Off.Preempted
		} else if os == "on" {
			want = "perf_event_open"
		}
		text := strings.Join(strings.Fields(page.String()), " ")
		if lost < p.Busy/20 || !strings.Contains(text, want) {
			t.Errorf("os=%s: %d ns off-CPU of %d busy, and on the page:\n%s", os, lost, p.Busy, &page)
		}
	}
}

// burn runs a program that takes every processor, until the test ends.
func burn(t *testing.T) {
	t.Helper()
	for range runtime.NumCPU() {
		burner := exec.Command("sh", "-c", "while :; do :; done")
		if err := burner.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = burner.Process.Kill()
			_ = burner.Wait()
		})
	}
}

// The states of every goroutine are those that Go's own tracer saw.
func TestOracle(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "oracle")
	for _, procs := range []string{"1", "2", "7"} {
		theirs := filepath.Join(t.TempDir(), "go.trace")
		ours := e2e.Run(t, procs, exe, theirs)
		f, err := os.Open(theirs)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		diffs, goroutines, changes, err := oracle.Compare(f, ours)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("GOMAXPROCS=%s: %d goroutines, %d changes of state", procs, goroutines, changes)
		if goroutines < 100 || changes < 10000 {
			t.Errorf("only %d goroutines and %d changes compared", goroutines, changes)
		}
		for _, d := range diffs {
			t.Errorf("goroutine %d: Go %v, ours %v", d.G, d.Go, d.Ours)
		}
	}
}

// TestLoops compares what the probes say of loops that are left in every way with
// what the program counts for itself.
func TestLoops(t *testing.T) {
	p, lines := runCounting(t, "loops")
	got := map[string]*profile.Entry{}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindLoop {
			_, name, _ := strings.Cut(e.Name, ": ")
			got[name] = e
		}
	}
	if len(lines) < 20 {
		t.Errorf("the program counted %d loops", len(lines))
	}
	for _, line := range lines {
		var name string
		var entered, trips uint64
		if _, err := fmt.Sscan(line, &name, &entered, &trips); err != nil {
			t.Fatal(err)
		}
		switch e := got[name]; {
		case e == nil:
			t.Errorf("%s: no such loop in the trace", name)
		case e.Calls != entered || e.Degraded != 0 || e.Trips != trips && trips > 0:
			t.Errorf("%s: entered %d times (%d not traced) with %d iterations, want %d and %d", name, e.Calls,
				e.Degraded, e.Trips, entered, trips)
		}
	}
	// Beside the helper of the test or other programs it is ready, or off, at times.
	if e := got["spin.yields"]; e == nil || e.Spin+e.Ready+e.Off < 15e6 || e.Busy > 1e6 {
		t.Errorf("the loop that spins for 20 ms: %+v", e)
	}
	if e := got["spin.lock"]; e == nil || e.Calls != 1 || e.Spin+e.Ready+e.Off < 1e6 {
		t.Errorf("the lock that is spun for 3 ms: %+v", e)
	}
	if e := got["spin.never"]; e != nil {
		t.Errorf("a loop that never had to wait is said to have spun %d times", e.Calls)
	}
}

// runCounting runs a program that says on its output what must be found in its
// trace, one thing a line.
func runCounting(t *testing.T, program string) (*profile.Profile, []string) {
	t.Helper()
	tr, out := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", program)))
	return checkedProfile(t, tr, nil), strings.Split(strings.TrimSpace(out), "\n")
}

// TestRecords finds the records that a program emits where it emitted them: in its
// goroutines, in order, within the procedure, every one counted.
func TestRecords(t *testing.T) {
	t.Parallel()
	tr, out := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", "records")))
	checkedProfile(t, tr, nil)
	type found struct {
		count, sum int
		gs         map[trace.GoID]int64
	}
	got := map[string]*found{}
	in := map[trace.GoID]string{}
	_, err := tr.Events(func(batch []trace.Event) error {
		for i := range batch {
			switch e := &batch[i]; e.Kind {
			case trace.Enter:
				in[e.G] = tr.Points[e.Point()].Name
			case trace.Exit:
				in[e.G] = ""
			case trace.Record:
				p, err := tr.Record(e)
				if err != nil {
					return err
				}
				f := got[p.Name]
				if f == nil {
					f = &found{gs: map[trace.GoID]int64{}}
					got[p.Name] = f
				}
				f.count++
				switch p.Name {
				case "cache miss":
					n := p.Values[2].(int64)
					if before, ok := f.gs[e.G]; ok && n != before+1 || in[e.G] != "main.lookup" {
						t.Errorf("record %d of goroutine %d after %d, in %q", n, e.G, before, in[e.G])
					}
					f.gs[e.G] = n
					f.sum += int(n)
				case "sample":
					if n := len(p.Values[3].([]byte)); n != 5000*(f.count-1) ||
						fmt.Sprint(p.Values[1]) != "{[2 3] [-1 2 -3 4 -5 6]}" {
						t.Errorf("%d bytes in sample %d, matrix %v", n, f.count, p.Values[1])
					}
					f.gs[e.G] = 0
				default:
					f.gs[e.G] = 0
					f.sum += int(p.Values[0].(uint64))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		var name string
		var gs, count, sum int
		if _, err := fmt.Sscan(line, &name, &gs, &count, &sum); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		name = strings.ReplaceAll(name, "-", " ")
		f := got[name]
		if f == nil || f.count != count || f.sum != sum || len(f.gs) != gs {
			t.Errorf("%s: found %+v, want %d of %d goroutines, sum %d", name, f, count, gs, sum)
		}
	}
	for i := range tr.Points {
		if p := &tr.Points[i]; p.Kind == spec.PointRecord && p.Name == "sample" && (p.Hits != 4 || p.Traced != 3) {
			t.Errorf("%d samples counted, %d traced, want 4 and 3", p.Hits, p.Traced)
		}
	}
	var words bytes.Buffer
	if err := report.Events(&words, tr, 0, tr.Wall(), "cache*", false); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(words.String(), "\n"); len(lines)-1 != got["cache miss"].count ||
		!recordLine.MatchString(lines[0]) {
		t.Errorf("%d lines, the first %q, expected %d like %v", len(lines)-1, lines[0], got["cache miss"].count,
			recordLine)
	}
}

var recordLine = regexp.MustCompile(`^ +\d+\.\d{6}ms  thread \d+ +g\d+ +record +cache miss  .*=.* .*=`)

// TestCut compares the middle of a trace, as a file of its own, with that part of
// the whole.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"locks", "states", "records"} {
		whole, _ := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", program)))
		part := filepath.Join(t.TempDir(), "part.sddf")
		windows := [][2]float64{{0.3, 0.31}, {0.01, 0.02}, {0.5, 1}}
		if program == "states" {
			windows = windows[:2] // it makes millions of events
		}
		for _, w := range windows {
			from, to := trace.Time(w[0]*float64(whole.Wall())), trace.Time(w[1]*float64(whole.Wall()))
			var out bytes.Buffer
			if err := whole.Cut(&out, from, to); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(part, out.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			cut, err := trace.Open(part)
			if err != nil {
				t.Fatal(err)
			}
			checkedProfile(t, cut, nil)
			got, losses := stepsOf(t, cut, 0, 1<<62)
			// The two clocks are rounded to ns apart from each other, so that an event at an end of
			// the window may be on either side.
			want, before := stepsOf(t, whole, from+1, to-1)
			most, _ := stepsOf(t, whole, from-1, to+1)
			if losses.Any() && !before.Any() {
				t.Errorf("%s %v: lost %v", program, w, losses.List())
			}
			if lost, added := beyond(want, got), beyond(got, most); len(lost)+len(added) > 0 {
				t.Errorf("%s %v: %d steps, expected %d to %d; not there: %q, only there: %q", program, w,
					len(got), len(want), len(most), lost, added)
			}
			cut.Close()
		}
	}
}

// beyond returns what a sorted list has and a second one has not.
func beyond(list, other []string) (only []string) {
	for _, s := range list {
		for len(other) > 0 && other[0] < s {
			other = other[1:]
		}
		if len(other) == 0 || other[0] != s {
			only = append(only, s)
			continue
		}
		other = other[1:]
	}
	return only
}

// steps are the events of a window after its beginning, as text, sorted: where times
// are equal their order may differ.
func stepsOf(t *testing.T, tr *trace.Trace, from, to trace.Time) (list []string, losses trace.Losses) {
	losses, err := tr.Events(func(batch []trace.Event) error {
		for i := range batch {
			e := &batch[i]
			switch e.Kind {
			case trace.Searched, trace.Woke, trace.Procs:
				continue // they say what was before
			}
			if e.Time > from && e.Time <= to {
				list = append(list, fmt.Sprint(e.Kind, e.G, e.Count(), e.From, e.To, e.Thread, e.Sync().Queue))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list, losses
}

// TestKilled kills a program at random times: what it had recorded is there, in
// order and once, though it never wrote the end. QINST_KILLS says how often.
func TestKilled(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "killed")
	kills, _ := strconv.Atoi(cmp.Or(os.Getenv("QINST_KILLS"), "6"))
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for i := range kills {
		delay := time.Duration(r.ExpFloat64() * float64(60*time.Millisecond))
		if err := kill(t, exe, delay); err != nil {
			t.Fatalf("kill %d of %d, after %v: %v", i, kills, delay, err)
		}
	}
}

func kill(t *testing.T, exe string, delay time.Duration) error {
	const threads, words = 4, 8
	dir := t.TempDir() // of the ring, too: other tests clean /dev/shm
	shared, file := filepath.Join(dir, "shared"), filepath.Join(dir, "killed.sddf")
	if err := os.WriteFile(shared, make([]byte, 4096), 0o666); err != nil {
		return err
	}
	cmd := exec.Command(exe, shared)
	cmd.Env = append(os.Environ(), "QINST=limit=0,budget=off,ring="+dir+",out="+file)
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(delay)
	cmd.Process.Kill()
	cmd.Wait()
	page, err := os.ReadFile(shared)
	if err != nil {
		return err
	}
	tr, err := trace.Open(file)
	if err != nil {
		if st, e := os.Stat(file); e != nil || st.Size() == 0 {
			return nil // not begun
		}
		return err
	}
	defer tr.Close()
	hits, calls, events := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	var next [threads]uint64
	losses, err := tr.Events(func(batch []trace.Event) error {
		for i := range batch {
			switch e := &batch[i]; e.Kind {
			case trace.Enter:
				events[tr.Points[e.Point()].Name]++
			case trace.Record:
				p, err := tr.Record(e)
				if err != nil {
					return err
				}
				events["step"]++
				thread, n := p.Values[0].(uint64), p.Values[1].(uint64)
				if n < next[thread] {
					return fmt.Errorf("thread %d: record %d after %d", thread, n, next[thread])
				}
				next[thread] = n + 1
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range tr.Points {
		if p := &tr.Points[i]; p.Traceable() && p.Owner == trace.PointID(i) {
			hits[p.Name] += p.Hits
			if p.Traced > events[p.Name]+threads && losses.Events == 0 {
				return fmt.Errorf("%s: %d traced, %d events", p.Name, p.Traced, events[p.Name])
			}
		}
		if p := &tr.Points[i]; p.Kind == spec.PointCall {
			calls[p.Name] += p.Hits
		}
	}
	for word, name := range []string{"main.one", "main.two", "step"} {
		var want uint64
		for t := range threads {
			want += binary.LittleEndian.Uint64(page[8*(words*t+word):])
		}
		if hits[name]+threads < want {
			return fmt.Errorf("%s: %d hits, the program counted %d; %v", name, hits[name], want, losses.List())
		}
		if word < 2 && (calls[name]+threads < hits[name] || calls[name] > hits[name]+threads) {
			return fmt.Errorf("%s: %d hits, called %d times", name, hits[name], calls[name])
		}
	}
	if len(events) == 0 {
		losses.NoClock = 0 // there is nothing whose time it would be
	}
	if n := losses.Records + losses.BlockDamage + losses.Blocks + losses.TailBytes + losses.NoClock +
		losses.UnknownPoint; n != 0 {
		return fmt.Errorf("losses %v; %v", losses.List(), tr.File.Salvaged)
	}
	return nil
}

// TestLocks compares the names and uses of synchronization objects with those the program prints.
func TestLocks(t *testing.T) {
	t.Parallel()
	p, lines := runCounting(t, "locks")
	got := map[string]*profile.Object{}
	for i := range p.Objects {
		got[p.Objects[i].Name] = &p.Objects[i]
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		n := max(0, len(fields)-2)
		name := strings.Join(fields[:n], " ")
		var ops, waits int
		if _, err := fmt.Sscan(strings.Join(fields[n:], " "), &ops, &waits); err != nil {
			t.Fatal(err)
		}
		o := got[name]
		if o == nil {
			t.Errorf("%s: no such object", name)
			continue
		}
		if o.Ops != uint64(ops) || o.Waits < int64(waits) || o.Degraded != 0 {
			t.Errorf("%s: %d operations (%d not traced), %d waits, want %d and %d or more", name, o.Ops, o.Degraded,
				o.Waits, ops, waits)
		}
		// Somebody slept for 10 ms before he ended the first wait, which may have begun late.
		if waits > 0 && (o.Wait < 3e6 || len(o.EndedBy) == 0 || !strings.HasPrefix(o.EndedBy[0].Reason, "main.")) {
			t.Errorf("%s: waited %d ns, ended by %v", name, o.Wait, o.EndedBy)
		}
		delete(got, name)
	}
	for name, o := range got {
		if o.Ops > 0 {
			t.Errorf("%s: %d operations of an object that the program does not know", name, o.Ops)
		}
	}
	site := ""
	for _, e := range p.Entries {
		if e.Kind == profile.KindGoroutine && e.Name == "main.worker" {
			site = e.Site
		}
	}
	if !strings.Contains(site, "main.go:") {
		t.Errorf("go worker() stands at %q", site)
	}
	if o := got["main.(*server).state"]; o != nil && o.Hold < 6e6 {
		t.Errorf("the RWMutex was held for %d ns", o.Hold)
	}
}

// A program ends while goroutines run. No event names a goroutine whose start was no longer
// recorded. If the system stopped a thread within a probe while the last of the file was written,
// its events are missing there, and the file says so.
func TestEndsAmidst(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "hops")
	for range 20 {
		tr, _ := e2e.Traced(t, exec.Command(exe))
		if err := tracetest.Validate(tr); err != nil &&
			!strings.Contains(err.Error(), "traced but are not in the file") {
			t.Fatal(err)
		}
	}
}
