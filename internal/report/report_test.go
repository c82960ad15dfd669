package report

import (
	"bytes"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
)

// The page names missing data and reasons for doubt.
func TestPageWarns(t *testing.T) {
	p := &profile.Profile{Wall: 1e9, Busy: 1e9, Procs: 1, Goroutines: 1, OffCPU: 30e6, Degraded: 7,
		Notes: []string{"7 calls were not traced"}, Parallelism: []int64{0, 1e9}, Losses: trace.Losses{Blocks: 3}}
	tr := &trace.Trace{}
	tr.Throttled, tr.Limits = 5e6, []trace.Limit{{Time: 10, Bytes: 1 << 20, Reason: "bytes"}}
	var out bytes.Buffer
	Page(tr, &advice.Facts{Profile: p}).WriteText(&out)
	for _, want := range []string{"WARNING: the operating system kept running threads waiting for 30.0ms; the control group's quota\n         stopped the process for 5.00ms",
		"30.0ms (2.9% of the time that\n           goroutines ran by the scheduler)", "quota stopped the process for 5.00ms", "3 blocks of events are missing",
		"note: 7 calls were not traced", "points only counted: bytes limit, 1 MiB written"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if s := out.String(); strings.Index(s, "WARNING") > strings.Index(s, "WHAT TO CHANGE FIRST") ||
		strings.Index(s, "ran 1.00s") > strings.Index(s, "WARNING") ||
		strings.Index(s, "THE RUN") > strings.Index(s, "note: 7 calls") {
		t.Errorf("not in this order: the run, what is doubtful, conclusions, more of the run, notes:\n%s", s)
	}
	p.OffCPU = 10e6
	out.Reset()
	Page(tr, &advice.Facts{Profile: p}).WriteText(&out)
	if strings.Contains(out.String(), "WARNING: the operating system") {
		t.Error("warning at 1 %")
	}
}

// A run that only counted shows calls and claims no times.
func TestPageCounted(t *testing.T) {
	p := &profile.Profile{Wall: 1000, Parallelism: []int64{1000}, Entries: []profile.Entry{
		{Name: "main.few", Calls: 3, Kind: profile.KindProc}, {Name: "main.many", Calls: 4000, Kind: profile.KindProc}}}
	var out bytes.Buffer
	Page(&trace.Trace{}, &advice.Facts{Profile: p}).WriteText(&out)
	s := out.String()
	many, few := strings.Index(s, "4,000"), strings.Index(s, "main.few")
	if many < 0 || few < many || strings.Contains(s, "NPT") {
		t.Errorf("page:\n%s", s)
	}
}

// The iterations of a loop are recorded when it is left. Those of entries that were not traced, or
// not left, are not known, and not 0.
func TestIterations(t *testing.T) {
	for want, e := range map[string]*profile.Entry{
		"7":  {Calls: 2, Trips: 7, TripsOf: 2},
		"0":  {Calls: 2, TripsOf: 2},
		"≥7": {Calls: 3, Trips: 7, TripsOf: 2},
		"?":  {Calls: 1},
	} {
		if got := tripsCell(e).Text; got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
	}
}

// The number of waiting goroutines is not the number that an operation recorded: that is a counter,
// a length, or readers.
func TestMost(t *testing.T) {
	for want, o := range map[string]*profile.Object{
		"1": {Kind: "channel", Queue: 128, Waiting: []int64{400, 100}},
		"0": {Kind: "lock", Queue: 3},
		"?": {Waiting: []int64{400, 100}, Apart: true},
	} {
		if got := most(o); got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
	}
}
