package advice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/names"
)

// gains are those of changes, by their text.
type gains map[string]predict.Change

func (g gains) Gain(change string) (predict.Change, error) {
	c, ok := g[change]
	if !ok {
		return c, errors.New("nothing of that name")
	}
	return c, nil
}

func (g gains) Run(string) (*sim.Run, error) { return nil, errors.New("no run") }

func (g gains) OnProcs(int) predict.Of { return predict.Of{Unknown: true} }

func (g gains) Room(name string, least int) string {
	return fmt.Sprintf("cap:%s=%d", name, max(64, least))
}

// twoLocks is a run that waits for two locks, of which the first is waited for longer.
func twoLocks() *profile.Profile {
	lock := func(name string, wait int64) profile.Object {
		return profile.Object{Name: name, Objects: 1, Holds: 9, Hold: 300, Wait: wait,
			Waiting: []int64{500 - wait, wait}}
	}
	return &profile.Profile{Wall: 500, Busy: 700, NPTSum: 500, Procs: 2, Parallelism: []int64{0, 300, 200},
		Objects: []profile.Object{lock("main.loud", 300), lock("main.late", 200)}}
}

// TestWeigh: what gains more comes first, however long the waits are; what gains nothing is said to
// do so; and what is not known comes between, by a part of its bound.
func TestWeigh(t *testing.T) {
	const loud, late, held = "split:main.loud=64", "split:main.late=64", "hold:main.loud=-50%"
	of := func(lo, value, hi float64) predict.Change {
		return predict.Change{LoPct: lo, GainPct: value, HiPct: hi}
	}
	for _, c := range []struct {
		gains gains
		first []string // of the subjects
		said  string   // in a remark
	}{
		{nil, []string{"main.loud", "main.late"}, ""},
		{gains{loud: of(5, 10, 15), late: of(20, 30, 40)}, []string{"main.late", "main.loud"}, ""},
		{gains{loud: of(0, 0, 1), late: of(20, 30, 40)}, []string{"main.late"}, "Nothing is gained at main.loud"},
		{gains{loud: of(-3, 1, 20), late: of(20, 30, 40)}, []string{"main.late"}, "Little or nothing is gained at main.loud"},
		{gains{loud: of(0, 0, 1), held: of(9, 10, 11), late: of(20, 30, 40)}, []string{"main.late"},
			"by splitting main.loud, although goroutines wait there: the run waits for something else (0 to 1.0% of it). Half of the work under it gains 10 %"},
		{gains{late: of(2.5, 3, 4)}, []string{"main.loud", "main.late"}, ""},
		{gains{loud: {Unknown: "not seen"}, late: of(20, 30, 40)}, []string{"main.late", "main.loud"}, ""},
	} {
		f := &Facts{Profile: twoLocks()}
		if c.gains != nil {
			f.Gains = c.gains
		}
		var first []string
		var said strings.Builder
		for _, it := range Of(f) {
			if it.Remark {
				said.WriteString(it.Text)
			} else {
				first = append(first, it.Subject.Name)
			}
		}
		if !slices.Equal(first, c.first) || !strings.Contains(said.String(), c.said) {
			t.Errorf("%+v: found %q and %q, expected %q and %q", c.gains, first, said.String(), c.first, c.said)
		}
	}
}

// TestOffPath: waits without which the run is as long gain nothing, whether or not a run can be
// computed, and others no more than they cost it.
func TestOffPath(t *testing.T) {
	spares := func(object string, _ bool) int64 { return map[string]int64{"main.late": 100}[object] }
	for _, g := range []Gains{nil, gains{}} {
		path := &critpath.Result{T: 500, Recorded: critpath.Recorded{Spares: spares}}
		f := &Facts{Profile: twoLocks(), Path: path, Gains: g}
		for _, it := range Of(f) {
			switch {
			case it.Subject.Name == "main.loud" && (!it.Remark || !strings.Contains(it.Text, "Nothing is gained")):
				t.Errorf("found %q, expected that nothing is gained", it.Text)
			case it.Subject.Name == "main.late" && it.AtMost > 100:
				t.Errorf("found %q with %d ns at most, expected 100", it.Text, it.AtMost)
			}
		}
		if len(f.items) < 2 {
			t.Errorf("found %+v, expected both locks", f.items)
		}
	}
}

// TestUpTo: who lets more goroutines in does not know how many are enough, so that the gain is
// between those of some more and of all; and no more than processors can do.
func TestUpTo(t *testing.T) {
	of := func(lo, value, hi float64) predict.Change {
		return predict.Change{LoPct: lo, GainPct: value, HiPct: hi}
	}
	for _, c := range []struct{ all, high float64 }{{20, 25}, {60, 30}, {5, 15}} {
		p := twoLocks()
		p.Objects = []profile.Object{{Name: "main.permits", Kind: "channel", Objects: 1, Waits: 9, Wait: 300, Peers: 300,
			Waiting: []int64{200, 300}, WaitedIn: []profile.Wait{{Reason: "main.f", Time: 300}}}}
		f := &Facts{Profile: p, Gains: gains{"cap:main.permits=64": of(5, 10, 15),
			"cap:main.permits=1000": of(c.all-5, c.all, c.all+5)}}
		items := Of(f)
		if len(items) == 0 || items[0].Gain == nil || items[0].Gain.High != int64(c.high/100*500) ||
			items[0].Gain.Ns != 50 {
			t.Errorf("%+v: found %+v", c, items)
		}
	}
}

// waitsOnPath is the path of a run that waits in places for a cause.
func waitsOnPath(cause string, self int64, in ...critpath.WaitedIn) *critpath.Result {
	return &critpath.Result{T: 500, Entries: []critpath.Entry{{ID: "wait:" + cause, Kind: critpath.KindWait, Self: self,
		In: in}}}
}

// delaying lets goroutines wait for an object while others wait on a path.
func delaying(r *critpath.Result, object string, ns int64) *critpath.Result {
	in := &r.Entries[0].In[0]
	list := []critpath.Delayed{{Object: object, Kind: r.Entries[0].ID, Ns: ns,
		Place: critpath.Place{Name: in.Name, File: in.File, Line: in.Line}}}
	r.Delayed = func() []critpath.Delayed { return list }
	return r
}

// answering lets so many of ten sleeps on a path follow an answer.
func answering(r *critpath.Result, of int) *critpath.Result {
	in := &r.Entries[0].In[0]
	at := critpath.Place{Name: in.Name, File: in.File, Line: in.Line}
	r.Pauses = func() map[critpath.Place]critpath.Pauses {
		return map[critpath.Place]critpath.Pauses{at: {All: 10, Answered: of}}
	}
	return r
}

// TestOutside: waits for the outside on the path are conclusions of what waits there, and for what.
func TestOutside(t *testing.T) {
	sleep := critpath.WaitedIn{Name: "main.poll", File: "a/poll.go", Line: 7, Self: 300, Count: 3}
	short := critpath.WaitedIn{Name: "main.brief", Self: 20, Count: 1}
	deadline := func(waiter, what string, ns int64) critpath.WaitedIn {
		return critpath.WaitedIn{Name: "main.ask", File: "a/ask.go", Line: 5, Self: ns, Count: 1, What: what,
			Waiter: &critpath.Place{Name: waiter}}
	}
	several := sleep
	several.Several = true
	many := several
	many.Name = "main.many"
	inTurn := many
	inTurn.Name, inTurn.Loop = "main.slow", &critpath.Place{Name: "main.load: range orders", File: "a/load.go", Line: 3}
	acks := sleep
	acks.Count, acks.Acks = 5, 200
	paced, partly := sleep, sleep
	paced.Paced, partly.Paced, partly.Self = true, true, 200
	opens := sleep
	opens.What, opens.Count = names.Opened["database/sql.(*DB).conn"], 30
	limited := sleep
	limited.What = "the rate of the limiter"
	device, alone, queued := many, many, many
	device.Under, alone.Under, queued.Under = "main.devices", "main.device", "main.queued"
	stops := deadline("main.tick", "", 300)
	stops.Stopped = true
	oneOf := many // one goroutine's sleeps are on the path
	oneOf.Several = false
	for _, c := range []struct {
		path   *critpath.Result
		served string
		id     string
		text   string
	}{
		{waitsOnPath("timer", 320, sleep, short), "", "timer", "main.poll (poll.go:7) waits for timers one after another, for 300ns (60.0% of the run, 3 times 100ns): start these together"},
		{waitsOnPath("timer", 300, several), "", "timer", "main.poll (poll.go:7) sleeps for"},
		{waitsOnPath("timer", 300, many), "", "timer", "main.many (poll.go:7) waits for timers for 300ns (60.0% of the run, 3 times 100ns), on average in 2.4 goroutines: let more of them wait at once, or ask for less"},
		{answering(waitsOnPath("timer", 300, many), 6), "", "pause", "main.many (poll.go:7) sleeps between requests, in 2.4 goroutines at once, on average"},
		{answering(waitsOnPath("timer", 300, oneOf), 6), "", "pause", "main.many (poll.go:7) sleeps between requests"},
		{answering(waitsOnPath("timer", 300, many), 4), "", "timer", "let more of them wait at once, or ask for less"},
		{answering(waitsOnPath("timer", 300, several), 6), "", "timer", "main.poll (poll.go:7) sleeps for"},
		{waitsOnPath("timer", 300, stops), "", "pace", "The run lasts until the deadline that main.ask (ask.go:5) sets stops main.tick"},
		{waitsOnPath("timer", 300, oneOf), "", "timer", "on average in 2.4 goroutines: let more of them wait at once"},
		{waitsOnPath("timer", 300, device), "", "one-at-a-time", "with main.devices locked, each of 6 for one at a time, 2.4 at once on average"},
		{waitsOnPath("timer", 300, alone), "", "timer", "let more of them wait at once"},
		{waitsOnPath("timer", 300, queued), "", "timer", "let more of them wait at once"},
		{waitsOnPath("timer", 300, inTurn), "", "timer", "on average in 2.4 goroutines, one after another in the loop of main.load (load.go:3): let more of them wait at once, or ask for less, or do not wait for the slowest (the average is 40ns)"},
		{delaying(waitsOnPath("timer", 300, many), "main.loud", 750), "", "timer", "ask for less. Meanwhile 1.5 goroutines wait at main.loud"},
		{delaying(waitsOnPath("timer", 300, sleep), "main.loud", 200), "", "timer", "wait less, or do more after each, unless this is how fast the run is to go. Meanwhile 0.4 goroutines wait at main.loud"},
		{delaying(waitsOnPath("timer", 300, sleep), "main.loud", 100), "", "timer", "start these together"}, // too little of it
		{waitsOnPath("network or pipe", 300, acks), "", "delayed-acknowledgments", "waits for the network for 300ns (60.0% of the run, 5 times 60ns), which is how long Linux delays acknowledgments"},
		{waitsOnPath("timer", 300, paced), "", "pace", "The run keeps the pace of a clock: main.poll (poll.go:7) waits for it for 300ns"},
		{waitsOnPath("timer", 300, partly), "", "pace-in-part", "main.poll (poll.go:7) keeps the pace of a clock, for which it waits for 200ns"},
		{delaying(waitsOnPath("timer", 300, paced), "main.reply", 200), "", "timer", "waits for timers one after another, for 300ns (60.0% of the run, 3 times 100ns): wait less, or do more after each, unless this is how fast the run is to go. Meanwhile 0.4 goroutines wait at main.reply"},
		{delaying(waitsOnPath("timer", 300, paced), "main.feed", 200), "", "pace", "The run keeps the pace of a clock"},
		{waitsOnPath("timer", 300, opens), "", "new-connections", "reuse connections instead of opening them in main.poll (poll.go:7), for 300ns (60.0% of the run, 30 times 10ns)"},
		{waitsOnPath("timer", 300, limited), "", "library-wait", "main.poll (poll.go:7) waits for the rate of the limiter"},
		{waitsOnPath("timer", 300, deadline("dep.watch", "", 200), deadline("main.size", "a connection of database/sql's pool", 100)), "",
			"deadline", "main.size waits for a connection of database/sql's pool until the deadline that main.ask (ask.go:5) sets: 300ns (60.0% of the run, 2 times 150ns)"},
		{waitsOnPath("timer", 300, deadline("main.f", "", 300)), "", "deadline", "main.f waits for what does not come"},
		{waitsOnPath("network or pipe", 300, sleep), "", "input-output", "main.poll (poll.go:7) waits for the network"},
		{waitsOnPath("system call", 300, sleep), "", "input-output", "main.poll (poll.go:7) waits for the system for"},
		{waitsOnPath("system call", 500, sleep), "", "", ""}, // most of it is in places that are not known
		{waitsOnPath("timer", 20, short), "", "", ""},
		{waitsOnPath("timer", 300, sleep), "main.handle", "", ""},
	} {
		f := &Facts{Profile: twoLocks(), Path: c.path, Served: c.served}
		f.Objects = append(f.Objects, profile.Object{Name: "time.Sleep in main.many", Kind: "sleep", Wait: 1200,
			Waits: 12, WaitedIn: []profile.Wait{{Reason: "main.many", Time: 1200}}},
			profile.Object{Name: "main.reply", Kind: "channel", Objects: 9},
			profile.Object{Name: "main.feed", Kind: "channel", Objects: 1},
			profile.Object{Name: "main.devices", Kind: "lock", Objects: 6, Hold: 1200, Wait: 100},
			profile.Object{Name: "main.device", Kind: "lock", Objects: 1, Hold: 1200},
			profile.Object{Name: "main.queued", Kind: "lock", Objects: 6, Hold: 1200, Wait: 300},
			profile.Object{Name: "time.Sleep in main.slow", Kind: "sleep", Wait: 1200,
				Waits: 30, WaitedIn: []profile.Wait{{Reason: "main.slow", Time: 1200}}})
		list := outside(f)
		switch {
		case c.id == "" && len(list) == 0:
		case len(list) != 1 || list[0].ID != c.id || !strings.Contains(list[0].Text, c.text):
			t.Errorf("found %+v, expected %s: %s", list, c.id, c.text)
		}
	}
}

// TestAbsorbed: a clock that the run keeps the pace of absorbs small waits, and no large ones.
func TestAbsorbed(t *testing.T) {
	for _, c := range []struct {
		pace float64
		low  int64
		left int
	}{{300, 0, 1}, {300, 5, 1}, {300, 100, 2}, {200, 0, 2}} {
		f := &Facts{Profile: &profile.Profile{Wall: 500}}
		list := []Item{{ID: "timer", Gain: &Gain{Low: c.low, Ns: 110, High: 120}},
			{ID: "pace", Remark: true, Evidence: []Fact{{What: "of the critical path", Value: c.pace, Unit: "ns"}}}}
		if list = f.absorbed(list); len(list) != c.left {
			t.Errorf("%+v: %d are left", c, len(list))
		}
	}
}

// TestAllBusy: time with as many processors busy in another part of the run does not count.
func TestAllBusy(t *testing.T) {
	for _, c := range []struct {
		busy   []int64 // by number of processors
		during int64
		want   int64
	}{
		{[]int64{0, 80, 20}, 80, 80},
		{[]int64{80, 20, 0}, 80, 0},   // all of it may have been outside
		{[]int64{10, 80, 10}, 80, 70}, // 10 of it may have been
		{[]int64{0, 100}, 100, 100},
	} {
		p := &profile.Profile{Wall: 100, Parallelism: c.busy}
		if got := allBusy(p, 1, c.during); got != c.want {
			t.Errorf("%+v: found %d", c, got)
		}
	}
}

// TestCollectorOffPath: allocation gains no more than the part of the run that waits for nothing.
func TestCollectorOffPath(t *testing.T) {
	for waits, want := range map[int64]string{0: "garbage-collector", 495: "garbage-collector-gains-nothing"} {
		p := twoLocks()
		p.Objects, p.CPU, p.GC.Cycles = nil, profile.CPU{Known: true, User: 1000, Collector: 200}, 5
		p.Memory = &profile.Memory{Bytes: 1000, Places: []profile.Taken{{Name: "main.f", Share: 0.6}}}
		f := &Facts{Profile: p, Path: waitsOnPath("timer", waits)}
		list := f.weigh(collector(f))
		if len(list) != 1 || list[0].ID != want || list[0].Remark != (waits > 0) {
			t.Errorf("%d of 500 ns are waits: found %+v, expected %s", waits, list, want)
		}
	}
}

// TestDefects: what is wrong whatever it costs comes first.
func TestDefects(t *testing.T) {
	kind := profile.Entry{ID: "go:main.wait<main.call", Kind: profile.KindGoroutine, Name: "main.wait", Calls: 200,
		Creator: "main.call", Site: "/a/main.go:4"}
	stay := profile.Left{Entry: kind.ID, Name: "main.wait", Count: 50, First: 100, Last: 390, For: "chan send",
		In: "main.wait", File: "/a/main.go", Line: 9}
	with := func(change func(p *profile.Profile)) *Facts {
		p := twoLocks()
		p.Entries, p.Left = []profile.Entry{kind}, []profile.Left{stay}
		change(p)
		return &Facts{Profile: p}
	}
	for name, c := range map[string]struct {
		f    *Facts
		id   string
		text string
	}{
		"leak":                           {with(func(*profile.Profile) {}), "goroutine-leak", "50 of 200, started in main.call (main.go:4) wait at the end (chan send in main.wait (main.go:9))"},
		"workers began to wait together": {with(func(p *profile.Profile) { p.Left[0].First = 350 }), "contended-lock", ""},
		"few":                            {with(func(p *profile.Profile) { p.Left[0].Count = 5 }), "contended-lock", ""},
		"never unlocked": {with(func(p *profile.Profile) {
			p.Left = nil
			p.Objects[1].Abandoned = &profile.Abandoned{Ended: 40, Taken: "main.load", File: "/a/b.go", Line: 3,
				Holder: "main.importer", Waiting: 2, Longest: 400}
		}), "never-unlocked", "unlock main.late on every way out of main.load (b.go:3): a goroutine main.importer ended after 40ns while it had it, and 2 others wait for it"},
		"unlocked late": {with(func(p *profile.Profile) {
			p.Left = nil
			p.Objects[1].Abandoned = &profile.Abandoned{Ended: 480, Waiting: 2, Longest: 10}
		}), "contended-lock", ""},
	} {
		first := Of(c.f)[0]
		if first.ID != c.id || !strings.Contains(first.Text, c.text) {
			t.Errorf("%s: found %s: %s, expected %s: %s", name, first.ID, first.Text, c.id, c.text)
		}
	}
}

// TestMechanisms: processor time that is of a mechanism, and not of what a procedure does.
func TestMechanisms(t *testing.T) {
	ids := func(change func(p *profile.Profile)) (list []string) {
		p := &profile.Profile{Wall: 1e9, Busy: 1e9, NPTSum: 1e9, Procs: 2, Parallelism: []int64{0, 1e9, 0},
			Entries: []profile.Entry{{ID: "go:main.item<main.each", Kind: profile.KindGoroutine, Name: "main.item",
				Calls: 400_000, Got: 100_000_000, Creator: "main.each"}, {ID: "2", Kind: profile.KindProc, Name: "main.idle"}},
			Objects: []profile.Object{{Name: "main.more", Kind: "cond", Objects: 1, Waits: 400_000, Vain: 390_000,
				Waiting: []int64{1e9}}}}
		change(p)
		for _, it := range Of(&Facts{Profile: p}) {
			list = append(list, it.ID)
		}
		return list
	}
	for _, c := range []struct {
		change func(p *profile.Profile)
		id     string
		is     bool
	}{
		{func(*profile.Profile) {}, "tiny-goroutines", true},
		{func(p *profile.Profile) { p.Entries[0].Got *= 100 }, "tiny-goroutines", false}, // 25 us each
		{func(p *profile.Profile) { p.Entries[0].Calls = 4000 }, "tiny-goroutines", false},
		{func(*profile.Profile) {}, "wake-ups-in-vain", true},
		{func(p *profile.Profile) { p.Objects[0].Name = "net/http.(*connReader).cond" }, "wake-ups-in-vain", false},
		{func(p *profile.Profile) { p.Objects[0].Vain = 100_000 }, "wake-ups-in-vain", false},
		{func(p *profile.Profile) { p.Objects[0].Vain, p.Objects[0].Waits = 390, 400 }, "wake-ups-in-vain", false},
	} {
		if list := ids(c.change); slices.Contains(list, c.id) != c.is {
			t.Errorf("%s: found %q", c.id, list)
		}
	}
}
