package e2e_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// threadSwitch is a record of a thread that lost its processor, or got one.
type threadSwitch struct {
	kind uint64
	tid  uint64 // of one that got it
	num  uint64 // the thread's number in the trace
	at   trace.Time
}

// switchesIn reads what the system reported threads.
func switchesIn(t *testing.T, tr *trace.Trace) (list []threadSwitch) {
	t.Helper()
	file, err := os.Open(tr.File.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := sddf.NewReader(file, tr.File.Size)
	if err != nil {
		t.Fatal(err)
	}
	var points [][2]float64 // of the clock: ticks, ns
	type raw struct {
		kind, num, tid, ticks uint64
	}
	var all []raw
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind != spec.Data || p.Record == nil {
			continue
		}
		switch p.Record.Tag {
		case spec.TagClock:
			points = append(points, [2]float64{float64(p.Values[0].(uint64)), float64(p.Values[1].(int64))})
		case spec.TagEvents:
			block, err := r.ReadBlob(nil, p.Values[6].(sddf.Blob))
			if err != nil {
				t.Fatal(err)
			}
			err = sddf.Entries(&spec.Events, block, p.Values[3].(uint64), func(e *sddf.Entry) error {
				switch k := uint64(e.Variant.Kind); k {
				case spec.EvOff, spec.EvTaken:
					all = append(all, raw{k, e.Values[0], 0, e.Time})
				case spec.EvOn:
					all = append(all, raw{k, e.Values[0], e.Values[2], e.Time})
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	at := func(ticks uint64) trace.Time {
		i := 1
		for i < len(points)-1 && points[i][0] < float64(ticks) {
			i++
		}
		a, b := points[i-1], points[i]
		return trace.Time(a[1] + (float64(ticks)-a[0])*(b[1]-a[1])/(b[0]-a[0]))
	}
	for _, x := range all {
		list = append(list, threadSwitch{x.kind, x.tid, x.num, at(x.ticks)})
	}
	return list
}

// TestSwitchCounts compares what is recorded of threads that lose their processors with the
// system's own accounts of them: the numbers are the same, and so are the times that threads that
// compute waited.
func TestSwitchCounts(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "switches")
	// so that threads that compute wait for nothing but processors of the machine
	tr, out := e2e.Traced(t, exec.Command(exe), "GOMAXPROCS=5", "GODEBUG=asyncpreemptoff=1")
	if src := tr.Sources[trace.SourceSwitches]; src.Errno != 0 {
		t.Skipf("the system does not tell of switches here: error %d", src.Errno)
	} else if src.Lost > 0 {
		t.Errorf("%d records were lost", src.Lost)
	}
	list := switchesIn(t, tr)
	number := map[uint64]uint64{}
	for _, s := range list {
		if s.kind == spec.EvOn {
			number[s.tid] = s.num
		}
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 4 {
		t.Fatalf("the program printed %q", out)
	}
	for _, line := range lines {
		var name string
		var tid uint64
		var from, to trace.Time
		var voluntary, involuntary, wait int64
		if _, err := fmt.Sscan(line, &name, &tid, &from, &to, &voluntary, &involuntary, &wait); err != nil {
			t.Fatal(err)
		}
		counts, waited, off := map[uint64]int64{}, int64(0), trace.Time(0)
		longest := 0. // ns that it waited after it was taken once
		for _, s := range list {
			if s.num != number[tid] || s.at < from || s.at > to {
				continue
			}
			counts[s.kind]++
			switch {
			case s.kind == spec.EvTaken:
				off = s.at
			case s.kind == spec.EvOn && off != 0:
				longest = max(longest, float64(s.at-off))
				waited, off = waited+int64(s.at-off), 0
			case s.kind == spec.EvOff:
				off = 0
			}
		}
		if counts[spec.EvOff] != voluntary || counts[spec.EvTaken] != involuntary {
			t.Errorf("%s: found %d switches of its own and %d others, the system counts %d and %d", name,
				counts[spec.EvOff], counts[spec.EvTaken], voluntary, involuntary)
		}
		const takes = 8e3 // ns that the system needs for any switch; the two accounts divide that differently
		// that a thread may wait when it goes on after a switch of its own: as long as after
		// others, where the machine is busy
		wakes := max(8e6, longest)
		if off := math.Abs(float64(waited - wait)); name == "computes" &&
			off > 0.01*float64(wait)+wakes*float64(voluntary)+takes*float64(involuntary) {
			t.Errorf("%s: was taken from its processor for %d ns, the system counts %d", name, waited, wait)
		}
		t.Logf("%s: %d, %d switches; waited %d ns of %d", name, voluntary, involuntary, waited, wait)
	}
}

// TestRefused runs a program in a container's filter: it goes on, and the page names what is
// unknown and the permission that is missing.
func TestRefused(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "steady")
	filtered := filepath.Join(t.TempDir(), "filtered")
	build := exec.Command("go", "build", "-o", filtered, "./filtered")
	build.Dir = filepath.Join("..", "..", "testdata", "programs")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	burn(t) // otherwise there are no switches to report
	tr, out := e2e.Traced(t, exec.Command(filtered, exe, "-rounds", "200", "-workers", "4"), "GOMAXPROCS=2")
	if out != "" {
		t.Errorf("it said %q", out)
	}
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	if e := tr.Sources[trace.SourceSwitches].Errno; e != 1 || tr.Switches() {
		t.Errorf("switches have the error %d, expected 1; told: %v", e, tr.Switches())
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.Page(tr, advice.Gather(tr, p)).WriteText(&page); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(strings.Fields(page.String()), " "); !strings.Contains(text,
		"when, the system did not tell: perf_event_open is not permitted; in a container its seccomp profile has to allow it") {
		t.Errorf("the page does not say what is not known:\n%s", &page)
	}
}

// TestBriefThreads runs goroutines on threads that end before their times are read. Their processor
// time is known, but for the system's own work to begin and to end a thread.
func TestBriefThreads(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "brief")
	for _, os := range []string{"on", "off"} {
		tr, _ := e2e.Traced(t, exec.Command(exe), "QINST=budget=off,os="+os)
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var burnt int64
		for i := range p.Entries {
			if e := &p.Entries[i]; e.Name == "main.burn" {
				burnt = e.Busy
			}
		}
		used, busy := p.CPU.User+p.CPU.System-p.CPU.Writer, p.Busy+p.Spin
		t.Logf("os=%s: used %d, busy %d, in main.burn %d, off-CPU %d", os, used, busy, burnt, p.OffCPU)
		if busy > used*103/100 || busy < used*3/4 || burnt < busy*3/4 {
			t.Errorf("os=%s: busy for %d ns, of which %d in main.burn; the process used %d", os, busy, burnt, used)
		}
	}
}
