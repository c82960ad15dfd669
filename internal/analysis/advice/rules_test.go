package advice

import (
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
)

// A run without problems gets no advice, and each piece of advice needs its cause.
func TestRules(t *testing.T) {
	entry := profile.Entry{Kind: profile.KindProc, ID: "1", Name: "main.f", SelfNPT: 500, NPT: 500, SelfBusy: 1000,
		Busy: 1000, BusyAt: []int64{0, 0, 1000}}
	fine := func() *profile.Profile {
		return &profile.Profile{Wall: 500, Busy: 1000, NPTSum: 500, Procs: 2, Parallelism: []int64{0, 0, 500},
			Entries: []profile.Entry{entry}}
	}
	if h := Texts(Of(&Facts{Profile: fine()})); len(h) != 0 {
		t.Errorf("hints for a run without problems: %q", h)
	}
	for _, c := range []struct {
		want   string
		change func(p *profile.Profile)
	}{
		{"main.f ran almost alone: for 300ns (60.0% of the run) no other goroutine could run",
			func(p *profile.Profile) {
				p.Alone = 400
				p.Entries[0].SelfBusy, p.Entries[0].Busy, p.Entries[0].SelfAlone, p.Entries[0].Alone = 300, 300, 300,
					300
			}},
		{"the run is serial: for 480ns (96.0% of the run) no second goroutine",
			func(p *profile.Profile) { p.Alone = 480 }},
		{"divide the work of main.f among goroutines, or do it beside other work: for 280ns (56.0% of the run)",
			func(p *profile.Profile) {
				p.Alone, p.Entries[0].Alone, p.Entries[0].Busy = 300, 280, 300
			}},
		{"^nothing ran for 100ns (20.0% of the run); 90.0% of that until a sleep ended in main.poll (poll.go:7)",
			func(p *profile.Profile) {
				p.Idle = 100
				p.BlockedBy = []profile.Wait{{Reason: "chan receive", Time: 900}} // by others, meanwhile
				p.IdleFor = []profile.IdleFor{{Reason: "sleep", Function: "main.poll", File: "dir/poll.go", Line: 7,
					EndedBy: profile.EndedByTimer, Time: 90}}
			}},
		{"shorten what main.mu guards in main.f, or split it: goroutines queued for it for 100ns (20.0% of the run), 0.40 on average; it was held for 400ns (80.0% of the run)", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "main.mu", Objects: 1, Holds: 9, Hold: 400, Wait: 200,
				Waiting: []int64{400, 0, 100}, Blamed: []profile.Wait{{Reason: "main.f", Time: 180}}}}
		}},
		{"goroutines queued for them for 200ns (0.40 at a time), 0.80 on average; the locks at 5 addresses were held for 750ns (1.50 at a time)", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "main.mu", Kind: "lock", Objects: 5, Ops: 9, Holds: 9, Hold: 750,
				Wait: 400, Waiting: []int64{400, 0, 200}, Blamed: []profile.Wait{{Reason: "main.f", Time: 360}}}}
		}},
		{"goroutines queued for it for 100ns (20.0% of the run), 0.40 on average; during 90.0% of the waits it was held on behalf of main.f", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "dep.mu", Kind: "lock", Objects: 1, Wait: 200,
				Waiting: []int64{400, 0, 100}, WaitedFor: []profile.Wait{{Reason: "sync.Mutex.Lock", Time: 200}},
				Blamed: []profile.Wait{{Reason: "main.f", Time: 180}}}}
		}},
		{"it was held for about 400ns (80.0% of the run; between 70.0% and 90.0%)", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "main.mu", Objects: 1, Holds: 9, Hold: 400,
				HoldInterval: &[2]int64{350, 450}, Estimated: true, Wait: 200, Waiting: []int64{400, 0, 100}}}
		}},
		{"it was held for 8.0% of the run or more (99.0% of its operations were only counted)",
			func(p *profile.Profile) {
				p.Busy = 700
				p.Objects = []profile.Object{{Name: "main.mu", Objects: 1, Ops: 1000, Degraded: 990, Holds: 9, Hold: 40,
					HoldInterval: &[2]int64{40, 500}, Wait: 200, Waiting: []int64{400, 0, 100}}}
			}},
		{"goroutines queued for it for 100ns (20.0% of the run), 0.40 on average; 75.0% of the waits ended when main.f gave it back; its hold is not known: some operations on it have no probe", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "main.mu", Kind: "lock", Objects: 1, Ops: 1000, Partly: true, Wait: 200,
				Waiting: []int64{400, 0, 100}, WaitedFor: []profile.Wait{{Reason: "sync.Mutex.Lock", Time: 200}},
				Blamed:  []profile.Wait{{Reason: "main.g", Time: 180}},
				EndedBy: []profile.Wait{{Reason: "main.f", Time: 150}}}}
		}},
		{"it was held for 8.0% of the run or more (some operations on it have no probe)",
			func(p *profile.Profile) {
				p.Busy = 700
				p.Objects = []profile.Object{{Name: "main.mu", Objects: 1, Ops: 1000, Partly: true, Holds: 9, Hold: 40,
					HoldInterval: &[2]int64{40, 500}, Wait: 200, Waiting: []int64{400, 0, 100}}}
			}},
		{"goroutines queued for it for 450ns (90.0% of the run)", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "main.mu", Objects: 1, Holds: 9, Hold: 500, Wait: 450,
				Waiting: []int64{50, 450}}}
		}},
		{"hold sync.Mutex.Lock in log.Print for a shorter time, or use it less often: goroutines queued for it for 100ns (20.0% of the run), 0.40 on average; no probe sees how long it is held; 75.0% of the waits were in main.f", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "sync.Mutex.Lock in log.Print", Objects: 1, Wait: 200, Ready: 20,
				Waiting: []int64{400, 0, 100}, WaitedFor: []profile.Wait{{Reason: "sync.Mutex.Lock", Time: 200}}}}
			p.Entries[0].BlockedOn = []profile.Waited{{Object: "sync.Mutex.Lock in log.Print", Time: 150}}
		}},
		{"allocate less in main.f (f.go:7), which takes 50 to 70% of all 100 B: the garbage collector took 20.0% of the processor time, in 5 cycles", func(p *profile.Profile) {
			p.CPU = profile.CPU{Known: true, User: 1000, Collector: 200}
			p.GC.Cycles = 5
			p.Memory = &profile.Memory{Bytes: 100,
				Places: []profile.Taken{{Name: "main.f", File: "f.go", Line: 7, Share: 0.6,
					Between: [2]float64{0.5, 0.7}}}}
		}},
		{"let more goroutines in at main.sem, or hold it for a shorter time: they queued for it in main.f for 100ns (20.0% of the run), 0.40 on average, until another one of them left", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "main.sem", Kind: "channel", Objects: 1, Wait: 200, Peers: 190,
				Waiting: []int64{400, 0, 100}, WaitedIn: []profile.Wait{{Reason: "main.f", Time: 200}}}}
		}},
		{"they queued for it in main.f for 2.00us together, 4.00 on average, until another one of them left",
			func(p *profile.Profile) {
				// the number of simultaneous waits in selects is not known
				p.Busy = 700
				p.Objects = []profile.Object{{Name: "main.sem", Kind: "channel", Objects: 1, Wait: 2000, Peers: 1900,
					Apart: true, Waiting: []int64{0, 2000}, WaitedIn: []profile.Wait{{Reason: "main.f", Time: 200}}}}
			}},
		{"give main.ch a larger buffer: senders waited 60ns for receivers and receivers 50ns",
			func(p *profile.Profile) {
				p.Busy = 700
				p.Objects = []profile.Object{{Name: "main.ch", Turns: 50,
					WaitedFor: []profile.Wait{{Reason: "chan send", Time: 60}, {Reason: "chan receive", Time: 50}},
					Waiting:   []int64{390, 110}}}
				p.Alone = 120 // which the waits explain
			}},
		{"balance the load of the 2 goroutines main.w: one of them worked for 400ns, the others for 100ns on average, and not all processors were busy for 200ns", func(p *profile.Profile) {
			p.Parallelism = []int64{0, 200, 300}
			p.Entries = append(p.Entries, profile.Entry{Kind: profile.KindGoroutine, Name: "main.w", Calls: 2,
				SelfBusy: 500, Got: 500, Longest: 400})
		}},
		{"overlap input and output with work: nothing ran for 80ns (16.0% of the run); 75.0% of that until the network was ready for main.f (f.go:3)", func(p *profile.Profile) {
			p.Idle, p.IdleReady = 100, 20
			p.IdleFor = []profile.IdleFor{{Reason: "IO wait", Function: "main.f", File: "f.go", Line: 3, Time: 60},
				{Reason: "sleep", Time: 20}}
		}},
		{"overlap input and output with work: nothing ran for 80ns (16.0% of the run); 75.0% of that until a pipe or a device was ready for os.(*File).read (file_posix.go:30)$", func(p *profile.Profile) {
			p.Idle, p.IdleReady = 100, 20
			p.IdleFor = []profile.IdleFor{{Reason: "IO wait", Function: "os.(*File).read", File: "os/file_posix.go",
				Line: 30, Time: 60}, {Reason: "sleep", Time: 20}}
		}},
		{"nothing ran for 100ns (20.0% of the run); 75.0% of that until a system call, or one of C, which may have worked, ended in main.f (f.go:3)$", func(p *profile.Profile) {
			p.Idle = 100
			p.IdleFor = []profile.IdleFor{{Reason: "system call", Function: "main.f", File: "f.go", Line: 3, Time: 75}}
			p.Calls = []profile.Call{{Caller: "main.f", Callee: "main._Cfunc_burn"}}
		}},
		{"let more goroutines receive from main.inbox, or do less for each item: 0.90 goroutines waited on average to send to main.(*actor).loop, which receives alone and worked during 80.0% of their waits", func(p *profile.Profile) {
			p.Busy = 700
			p.Objects = []profile.Object{{Name: "main.inbox", Kind: "channel", Objects: 1, Waits: 90, Wait: 450,
				Together: 80, OneEnder: true, Waiting: []int64{300, 50, 150},
				WaitedFor: []profile.Wait{{Reason: "chan send", Time: 450}},
				EndedBy:   []profile.Wait{{Reason: "main.(*actor).loop", Time: 450}},
				Blamed:    []profile.Wait{{Reason: "main.(*actor).loop", Time: 360}}}}
		}},
		{"block instead of spinning: 30.0% of the processor time went into loops that only wait, most of it in main.wait: for (f.go:9)", func(p *profile.Profile) {
			p.Busy, p.Spin = 900, 100
			p.Entries = append(p.Entries, profile.Entry{Kind: profile.KindLoop, Name: "main.wait: for", File: "f.go",
				Line: 9, Spins: true, SelfSpin: 100, SelfBusy: 200},
				profile.Entry{Kind: profile.KindLoop, Name: "main.around: for", SelfSpin: 500, SelfBusy: 400})
		}},
		{"let goroutines take the next item when they have done one, instead of waiting at main.wg for all of a batch: that was 10 times, 40ns each", func(p *profile.Profile) {
			p.Busy, p.Parallelism = 700, []int64{0, 300, 200}
			p.Objects = []profile.Object{{Name: "main.wg", Kind: "wait group", Objects: 1, Waits: 10, Wait: 400,
				Waiting: []int64{100, 400}}}
		}},
		{"make fewer system calls in main.f (f.go:9), as with a buffer of package bufio: os.(*File).Write takes 50 to 90 % of its own time", func(p *profile.Profile) {
			p.Entries[0].File, p.Entries[0].Calls = "a/f.go", 100
			p.Entries[0].Doing = []profile.Doing{{How: replay.SystemCall, By: "os.(*File).Write", Line: 9,
				Part95: profile.Part95{Share: 0.8, In: [2]float64{0.5, 0.9}}}}
		}},
		{"do fewer atomic operations in main.f (f.go:9), as with a count for each goroutine, in a cache line of its own, added up at the end: sync/atomic.(*Int64).Add takes 50 to 90 % of the own time of main.f", func(p *profile.Profile) {
			p.Entries[0].File = "a/f.go"
			p.Entries[0].Doing = []profile.Doing{{How: replay.Atomic, By: "sync/atomic.(*Int64).Add", Line: 9,
				Part95: profile.Part95{Share: 0.8, In: [2]float64{0.5, 0.9}}}}
		}},
		{"do not call runtime.GC in main.f (f.go:9): on average 0.40 goroutines waited there for the end of one of 30 collections", func(p *profile.Profile) {
			p.Entries[0].File, p.Entries[0].Line, p.GC.Cycles = "a/f.go", 9, 30
			p.Objects = []profile.Object{{Name: "wait for GC cycle", Kind: "wait for GC cycle", Objects: 1, Waits: 40, Wait: 200,
				Waiting: []int64{300, 200}, WaitedIn: []profile.Wait{{Reason: "main.f", Time: 200}}}}
		}},
		{"call runtime.ReadMemStats less often in main.usage (f.go:9), or once for all: it stops all goroutines, which it did 90 times; all stops together took 100ns (20.0% of the run)", func(p *profile.Profile) {
			p.GC.Stops, p.GC.Stopped = 90, 100
			p.Calls = []profile.Call{{Caller: "main.f", Callee: "runtime.ReadMemStats", File: "a/f.go", Line: 9, Count: 90,
				Via: "main.usage"}}
		}},
		{"main.f (f.go:9) has to wait for a connection of database/sql's pool, 40 times 15ns, 1.20 goroutines on average", func(p *profile.Profile) {
			p.Busy, p.Parallelism = 700, []int64{0, 300, 200}
			p.Entries[0].File, p.Entries[0].Line, p.Entries[0].SelfBusy = "a/f.go", 9, 700
			p.Entries[0].BlockedOn = []profile.Waited{{Object: "pool", Time: 600}}
			p.Objects = []profile.Object{{Name: "pool", Kind: "select", Objects: 1, Waits: 40, Wait: 600,
				Waiting: []int64{100, 200, 200}, WaitedIn: []profile.Wait{{Reason: "database/sql.(*DB).conn", Time: 600}}}}
		}},
		{"reuse connections in main.f (f.go:9): it opened 50 in 100 calls, which took 200ns of processor time", func(p *profile.Profile) {
			p.Entries[0].File, p.Entries[0].Line, p.Entries[0].Calls = "a/f.go", 9, 100
			p.Entries = append(p.Entries, profile.Entry{Kind: profile.KindGoroutine, ID: "read", Calls: 50, Creator: "main.f",
				Name: "net/http.(*persistConn).readLoop", SelfBusy: 200})
		}},
		{"hand over several items at a time at main.ch: 300,000 operations there, and most of them wait; operations on channels take 30 to 50 % of the procedures' time, most of it in main.f (f.go:9)", func(p *profile.Profile) {
			p.Doing = []profile.DoneIn{{Doing: profile.Doing{How: replay.Channels, Line: 9,
				Part95: profile.Part95{Share: 0.4, In: [2]float64{0.3, 0.5}}}, Proc: "main.f", File: "a/f.go"}}
			p.Objects = []profile.Object{{Name: "main.ch", Kind: "channel", Objects: 1, Ops: 300_000, Waits: 200_000}}
		}},
		{"do not tie the goroutines of main.f (f.go:9) to threads (runtime.LockOSThread), or let them hand over more at a time: for 100ns (20.0% of the run) a goroutine was ready, and none ran", func(p *profile.Profile) {
			p.IdleReady = 100
			p.Calls = []profile.Call{{Caller: "main.f", Callee: "runtime.LockOSThread", File: "a/f.go", Line: 9, Count: 2}}
		}},
		{"let the goroutines main.beat (f.go:9) end: none of 200, started in main.f ended before the run did. Their number grows as the run goes on, and they took 90ns of processor time", func(p *profile.Profile) {
			p.Endless = []profile.Endless{{Entry: "beat", Name: "main.beat", Count: 200, First: 10, Last: 400}}
			p.Entries = append(p.Entries, profile.Entry{Kind: profile.KindGoroutine, ID: "beat", Name: "main.beat", Calls: 200,
				Creator: "main.f", File: "a/f.go", Line: 9, Busy: 90})
		}},
		{"let goroutines that have grown their stacks go on with other items, instead of starting new ones: to grow stacks takes 10 to 90 % of the own time of main.f", func(p *profile.Profile) {
			p.Entries[0].Doing = []profile.Doing{{How: replay.StackGrowth, By: "main.f",
				Part95: profile.Part95{Share: 0.4, In: [2]float64{0.1, 0.9}}}}
		}},
		{"use main.mu (f.go:3) less often, or do without it, as with a copy for each goroutine or an atomic pointer: to take and give it back, 10,000 times, takes 20.0% to 60.0% of the run", func(p *profile.Profile) {
			p.Entries[0].File = "a/f.go"
			p.Entries[0].Lines = []profile.LineTime{{Line: 3, SelfNPT: 200,
				SelfNPTs: profile.Interval{Low: 100, High: 300}}}
			p.Objects = []profile.Object{{Name: "main.mu", Kind: "lock", Objects: 1, Ops: 20_000, File: "a/f.go", Line: 3}}
		}},
		{"use main.mu less often, or hold it for a shorter time: 20.0% of the processor time went into spinning for it",
			func(p *profile.Profile) {
				p.Busy, p.Spin = 800, 200
				p.Objects = []profile.Object{{Name: "main.mu", Kind: "lock", Objects: 1, Spin: 200}}
			}},
	} {
		p := fine()
		c.change(p)
		if h := Texts(Of(&Facts{Profile: p})); len(h) != 1 || !strings.Contains("^"+h[0]+"$", c.want) {
			t.Errorf("got %q, want one hint with %q", h, c.want)
		}
	}
	takes := func(by string, least float64) []string {
		p := fine()
		p.Entries[0].Doing = []profile.Doing{{How: replay.Allocation, By: by,
			Part95: profile.Part95{Share: 0.8, In: [2]float64{least, 0.9}}}}
		return Texts(Of(&Facts{Profile: p}))
	}
	if h := takes("runtime.newobject", 0.5); len(h) != 1 || !strings.Contains(h[0], "runtime.newobject takes 50 to 90 % of its own time") {
		t.Errorf("got %q, expected a conclusion about allocation", h)
	}
	if h := slices.Concat(takes("encoding/json.Marshal", 0.5), takes("runtime.newobject", 0.04)); len(h) > 0 {
		t.Errorf("got %q, expected nothing about a library's memory, and about little", h)
	}
	alone := fine() // nobody else wants the memory
	alone.Entries[0].SelfAlone = alone.Entries[0].SelfBusy
	alone.Entries[0].Doing = []profile.Doing{{How: replay.Atomic, By: "sync/atomic.(*Int64).Add",
		Part95: profile.Part95{Share: 0.8, In: [2]float64{0.5, 0.9}}}}
	if h := Texts(Of(&Facts{Profile: alone})); len(h) > 0 {
		t.Errorf("atomic operations alone: got %q, expected nothing", h)
	}
}

// Long system calls are no conclusion, and neither is a share that few samples support.
func TestMechanismsAreCertain(t *testing.T) {
	call := func(busy int64, calls uint64, least float64) (ids []string) {
		p := &profile.Profile{Wall: 5e8, Busy: 1e9, NPTSum: 5e8, Procs: 2, Parallelism: []int64{0, 0, 5e8},
			Entries: []profile.Entry{{Kind: profile.KindProc, ID: "1", Name: "main.f", SelfNPT: busy, NPT: 5e8,
				SelfBusy: busy, Busy: 1e9, BusyAt: []int64{0, 0, 1e9}, Calls: calls,
				Doing: []profile.Doing{{How: replay.SystemCall, By: "os.(*File).Write",
					Part95: profile.Part95{Share: 0.8, In: [2]float64{least, 0.9}}}}}}}
		for _, it := range Of(&Facts{Profile: p}) {
			ids = append(ids, it.ID)
		}
		return ids
	}
	for _, c := range []struct {
		busy  int64
		calls uint64
		least float64
		is    bool
	}{{4e8, 1e6, 0.5, true}, {4e8, 100, 0.5, false}, {4e8, 1e6, 0.01, false}, {1e6, 1e6, 0.5, false}} {
		if ids := call(c.busy, c.calls, c.least); slices.Contains(ids, "system-calls") != c.is {
			t.Errorf("%+v: found %q", c, ids)
		}
	}
}

// The worth of waits is bounded by the work; the work of busy processors is named if nothing else
// is, and a lock that is hardly held is no advice.
func TestRemarks(t *testing.T) {
	entry := profile.Entry{Kind: profile.KindProc, ID: "1", Name: "main.f", SelfNPT: 500, NPT: 500, SelfBusy: 1000,
		Busy: 1000, BusyAt: []int64{0, 0, 1000}}
	p := &profile.Profile{Wall: 500, Busy: 1000, NPTSum: 500, Procs: 2, Parallelism: []int64{0, 0, 500},
		Entries: []profile.Entry{entry, {Kind: profile.KindGoroutine, SelfReady: 5000}}}
	remark := func() string {
		if list := Of(&Facts{Profile: p}); len(list) > 0 && list[len(list)-1].Remark {
			return list[len(list)-1].Text
		}
		return ""
	}
	if s := remark(); !strings.Contains(s, "only less work helps. Own code worth most of it: main.f 100.0%") ||
		!strings.Contains(s, "On average 10.0 goroutines were ready") {
		t.Errorf("all busy: %q", s)
	}
	if p.Ran = 4e6; !strings.Contains(remark(), "The run took 4.00ms: in so short a time") {
		t.Errorf("a short run: %q", remark())
	}
	p.Ran = 6e6
	if p.OffCPU = 500; strings.Contains(remark(), "less work") {
		t.Errorf("processors that others had for half of the time: %q", remark())
	}
	p.OffCPU = 0
	lock := profile.Object{Name: "main.mu", Objects: 1, Holds: 9, Hold: 400, Wait: 200, Waiting: []int64{400, 0, 100}}
	p.Objects = []profile.Object{lock}
	if s := remark(); !strings.Contains(s, "only less work helps") {
		t.Errorf("a lock, and all processors busy: %q", s)
	}
	p.Busy, p.Parallelism = 700, []int64{0, 300, 200}
	for busy, want := range map[int64]string{0: "Gain: 20.0% of the run at most", 120: "Gain: 8.0% of the run at most"} {
		p.Objects[0].Meanwhile = busy
		s := strings.Join(Texts(Of(&Facts{Profile: p})), "\n")
		if !strings.Contains(s, "main.mu guards") || !strings.Contains(s, want) {
			t.Errorf("a lock, and processors that worked for %d meanwhile: %q", busy, s)
		}
	}
	p.Objects[0].Meanwhile = 190
	if s := Texts(Of(&Facts{Profile: p})); len(s) > 0 {
		t.Errorf("a lock that is waited for while all processors are busy: %q", s)
	}
	p.Objects[0].Meanwhile = 0
	p.Entries[0].Started = 900
	unprobed := func(it Item) bool { return it.ID == "no-probes" && it.Remark }
	if !slices.ContainsFunc(Of(&Facts{Profile: p}), unprobed) {
		t.Errorf("a lock, and goroutines without probes: %+v", Of(&Facts{Profile: p}))
	}
	if p.Stackless = 1; slices.ContainsFunc(Of(&Facts{Profile: p}), unprobed) {
		t.Errorf("a lock, and goroutines without room for stacks: %+v", Of(&Facts{Profile: p}))
	}
	q := &profile.Profile{Wall: 500e6, Busy: 100e6, NPTSum: 100e6, Procs: 2, Idle: 400e6,
		Parallelism: []int64{400e6, 100e6}}
	if list := Of(&Facts{Profile: q}); len(Texts(list)) > 0 || strings.Contains(Absent(q), "time in which nothing ran") ||
		!strings.Contains(list[0].Text, "Nothing ran for 400ms (80.0% of the run), and no event shows") {
		t.Errorf("idle for no known reason: %+v", list)
	}
	p.Objects[0].Objects, p.Objects[0].Waiting = 12, []int64{5920, 80}
	if texts := Texts(Of(&Facts{Profile: p})); len(texts) != 0 {
		t.Errorf("locks of which each is seldom waited for: %q", texts)
	}
	p.Objects[0].Hold = 4
	if texts := Texts(Of(&Facts{Profile: p})); slices.ContainsFunc(texts,
		func(s string) bool { return strings.Contains(s, "main.mu") }) {
		t.Errorf("a lock that is hardly held: %q", texts)
	}
}

// A statement of absence is true: idle time may be a remark, and a queue for a lock no gain.
func TestAbsent(t *testing.T) {
	lock := profile.Object{Name: "main.mu", Objects: 1, Holds: 9, Hold: 400, Wait: 200, Waiting: []int64{400, 0, 100}}
	for want, p := range map[string]*profile.Profile{
		"Nothing stands out: no lock that is queued for, no part that runs alone, no time in which nothing ran.":     {Wall: 500},
		"Nothing stands out: no lock that is queued for, no part that runs alone.":                                   {Wall: 500, Idle: 40, IdleOff: 40},
		"Nothing stands out: no lock that is queued for, no part that runs alone, little time in which nothing ran.": {Wall: 500, IdleOff: 20},
		"Nothing stands out: no part that runs alone, no time in which nothing ran.":                                 {Wall: 500, Objects: []profile.Object{lock}},
		"Nothing stands out: no lock that is queued for.":                                                            {Wall: 500, Idle: 100, Alone: 100},
		"Nothing stands out that a change would gain much from.": {Wall: 500, Idle: 100, Alone: 100,
			Objects: []profile.Object{lock}},
	} {
		if got := Absent(p); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

// Waits of goroutines that have no procedure of their own are charged to who started them, and are
// not in that procedure.
func TestWaitingIn(t *testing.T) {
	p := &profile.Profile{Entries: []profile.Entry{{Kind: profile.KindProc, Name: "main.main",
		BlockedOn: []profile.Waited{{Object: "mu", Time: 90}}}}}
	o := &profile.Object{Name: "mu", Wait: 100}
	if s := waiting(p, o); s != "; 90.0% of the waits were in main.main" {
		t.Errorf("without stacks: %q", s)
	}
	o.WaitedIn = []profile.Wait{{Reason: "net/rpc.(*Server).sendResponse", Time: 80}, {Reason: "main.main", Time: 20}}
	if s := waiting(p, o); s != "; 80.0% of the waits were in net/rpc.(*Server).sendResponse" {
		t.Errorf("with stacks: %q", s)
	}
}
