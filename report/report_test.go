package report

import (
	"bytes"
	"strings"
	"testing"

	"qinst.dev/analysis/profile"
	"qinst.dev/trace"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{dur(int64(0)), "0ns"}, {dur(int64(999)), "999ns"}, {dur(int64(1000)), "1.00us"}, {dur(int64(12345)), "12.3us"}, {dur(int64(987654321)), "988ms"}, {dur(int64(61e9)), "61.0s"}, {dur(int64(-5e6)), "-5.00ms"},
		{count(0), "0"}, {count(1234567), "1,234,567"}, {count(-1234), "-1,234"}, {count(123), "123"},
		{percent(1, 0), "-"}, {percent(1, 8), "12.5%"},
		{bytesOf(512), "512 B"}, {bytesOf(3 << 20), "3 MiB"},
		{bar(1, 2, 10), "#####"}, {bar(0, 2, 10), ""}, {bar(1, 0, 10), ""},
		{short("abcdefghij", 6), "...hij"}, {short("abc", 6), "abc"},
		{short("a.b/c/d.(*T).m", 14), "a.b/c/d.(*T).m"}, {short("a.b/c/d.(*T).m", 13), "d.(*T).m"},
		{short("a.b/c/v2.(*T).m: range x/y", 20), "...(*T).m: range x/y"}, {short("a.b/c/v2.(*T).m", 14), "c/v2.(*T).m"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A run without problems gets no hints, and each hint needs its cause.
func TestHints(t *testing.T) {
	entry := profile.Entry{Kind: profile.KindProc, ID: "1", Name: "main.f", SelfNPT: 500, NPT: 500, SelfBusy: 1000, Busy: 1000, BusyAt: []int64{0, 0, 1000}}
	fine := func() *profile.Profile {
		return &profile.Profile{Wall: 500, Busy: 1000, NPTSum: 500, Procs: 2, Parallelism: []int64{0, 0, 500}, Entries: []profile.Entry{entry}}
	}
	if h := hints(fine()); len(h) != 0 {
		t.Errorf("hints for a run without problems: %q", h)
	}
	for _, c := range []struct {
		want   string
		change func(p *profile.Profile)
	}{
		{"ran almost alone", func(p *profile.Profile) { p.Entries[0].SelfBusy = 500 }},
		{"the run is serial: 1.00 of 2", func(p *profile.Profile) { p.Busy, p.Entries[0].SelfBusy = 500, 500 }},
		{"only one processor was busy", func(p *profile.Profile) {
			p.Parallelism = []int64{0, 300, 200}
			p.Entries[0].BusyAt = []int64{0, 300, 200}
			p.Entries[0].Busy = 700
		}},
		{"nothing ran for", func(p *profile.Profile) {
			p.Idle = 100
			p.BlockedBy = []profile.Wait{{Reason: "sleep", Time: 100}}
		}},
		{"no processor", func(p *profile.Profile) {
			p.Entries = append(p.Entries, profile.Entry{Kind: profile.KindGoroutine, SelfReady: 5000})
		}},
		{"shorten or split what main.mu guards: it was held for 400ns (80.0% of the run), and goroutines queued for it for 100ns, 0.40 on average; 90.0% of their waits are while main.f has it", func(p *profile.Profile) {
			p.Objects = []profile.Object{{Name: "main.mu", Objects: 1, Holds: 9, Hold: 400, Wait: 200, Waiting: []int64{400, 0, 100}, Blamed: []profile.Wait{{Reason: "main.f", Time: 180}}}}
		}},
		{"says nothing about what it would gain", func(p *profile.Profile) {
			p.Objects = []profile.Object{{Name: "main.mu", Objects: 1, Holds: 9, Hold: 500, Wait: 450, Waiting: []int64{50, 450}}}
		}},
		{"give main.ch a larger buffer: senders waited 60ns for receivers and receivers 50ns", func(p *profile.Profile) {
			p.Objects = []profile.Object{{Name: "main.ch", WaitedFor: []profile.Wait{{Reason: "chan send", Time: 60}, {Reason: "chan receive", Time: 50}}}}
		}},
		{"balance the load of the 2 goroutines main.w: one of them worked for 400ns, the others for 100ns on average, and not all processors were busy for 200ns", func(p *profile.Profile) {
			p.Parallelism = []int64{0, 200, 300}
			p.Entries = append(p.Entries, profile.Entry{Kind: profile.KindGoroutine, Name: "main.w", Calls: 2, SelfBusy: 500, Longest: 400})
		}},
		{"overlap input and output with work: nothing ran for 100ns (20.0% of the run), while goroutines were in system calls or waited for the network for 90ns; main.f ended 80.0% of that time", func(p *profile.Profile) {
			p.Idle, p.Entries[0].SelfIdle = 100, 80
			p.BlockedBy = []profile.Wait{{Reason: "IO wait", Time: 90}}
		}},
		{"goroutines started in it", func(p *profile.Profile) { p.Entries[0].Started = 900 }},
	} {
		p := fine()
		c.change(p)
		if h := hints(p); len(h) != 1 || !strings.Contains(h[0], c.want) {
			t.Errorf("got %q, want one hint with %q", h, c.want)
		}
	}
}

// What is missing from the data, or makes it doubtful, is on the page.
func TestPageWarns(t *testing.T) {
	p := &profile.Profile{Wall: 1e9, Busy: 1e9, Procs: 1, Goroutines: 1, OffCPU: 30e6, Degraded: 7, Notes: []string{"7 calls were not traced"}, Parallelism: []int64{0, 1e9}, Losses: trace.Losses{Blocks: 3}}
	tr := &trace.Trace{}
	tr.Throttled, tr.Limits = 5e6, []trace.Limit{{Time: 10, Bytes: 1 << 20, Reason: "bytes"}}
	var out bytes.Buffer
	if err := Page(&out, tr, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"WARNING: that is above 2 %", "quota stopped the process for 5.00ms", "3 blocks of events are missing",
		"note: 7 calls were not traced", "points only counted: bytes limit, 1 MiB written"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	p.OffCPU = 10e6
	out.Reset()
	Page(&out, tr, p)
	if strings.Contains(out.String(), "above 2 %") {
		t.Error("warning at 1 %")
	}
}

// A run that only counted shows calls and claims no times.
func TestPageCounted(t *testing.T) {
	p := &profile.Profile{Wall: 1000, Parallelism: []int64{1000}, Entries: []profile.Entry{
		{Name: "main.few", Calls: 3, Kind: profile.KindProc}, {Name: "main.many", Calls: 4000, Kind: profile.KindProc}}}
	var out bytes.Buffer
	if err := Page(&out, &trace.Trace{}, p); err != nil {
		t.Fatal(err)
	}
	s := out.String()
	many, few := strings.Index(s, "4,000"), strings.Index(s, "main.few")
	if many < 0 || few < many || strings.Contains(s, "NPT") {
		t.Errorf("page:\n%s", s)
	}
}
