package advice

import (
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// lessGains gains most by what it is asked for.
type lessGains struct{ gains }

func (lessGains) Gain(string) (predict.Change, error) {
	return predict.Change{LoPct: 20, GainPct: 30, HiPct: 40}, nil
}

// TestRemembers: how often a function finds nothing, and how many goroutines get something then,
// tells whether it remembers too little or not for all.
func TestRemembers(t *testing.T) {
	for _, c := range []struct {
		asked, missed uint64
		busy, blocked int64  // of those that get it, together
		probes        bool   // what gets it has some
		others        uint64 // its calls elsewhere
		id, change    string
	}{
		{1000, 400, 600, 0, true, 0, "few-hits", "calls:main.load=-50%"},
		{1000, 400, 0, 600, true, 0, "few-hits", "wait:main.load=-50%"},
		{1000, 400, 0, 0, false, 0, "few-hits", "self:main.get=-50%"},
		{1000, 10, 0, 2000, true, 0, "same-at-once", "wait:main.load=-75%"},
		{1000, 10, 2000, 0, true, 0, "same-at-once", "calls:main.load=-50%"},
		{1000, 10, 0, 4000, true, 10, "same-at-once", "wait:main.load=-38%"},
		{1000, 10, 0, 4000, true, 90, "", ""}, // others wait there
		{1000, 10, 1000, 0, true, 0, "", ""},  // as many as there are processors
		{1000, 10, 600, 0, true, 0, "", ""},   // few, one at a time
		{1000, 990, 0, 2000, true, 0, "", ""}, // each is asked for once
		{40, 20, 600, 0, true, 0, "", ""},     // too few to tell
	} {
		p := &profile.Profile{Wall: 500, Busy: 1000, NPTSum: 500, Procs: 2, Parallelism: []int64{0, 0, 500},
			Entries: []profile.Entry{{Kind: profile.KindProc, ID: "1", Name: "main.get", Calls: c.asked, File: "a/get.go"}},
			Calls:   []profile.Call{{Caller: "main.get", Callee: "main.load", Line: 7, Count: c.missed, Fills: true}}}
		if c.probes {
			p.Entries = append(p.Entries, profile.Entry{Kind: profile.KindProc, ID: "2", Name: "main.load",
				Calls: c.missed + c.others, Busy: c.busy, Blocked: c.blocked})
		}
		list := remembers(&Facts{Profile: p, Gains: lessGains{}})
		id, change, text := "", "", ""
		if len(list) > 0 {
			id, change, text = list[0].ID, list[0].WhatIf, list[0].Text
		}
		if id != c.id || change != c.change || id != "" && !strings.Contains(text, "main.get (get.go:7) misses") {
			t.Errorf("%+v: found %s of %s, %q, expected %s of %s", c, id, change, text, c.id, c.change)
		}
	}
}

// TestLessOf: what a function gets is waited for in what that calls.
func TestLessOf(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	list := []uint32{b.Proc("main.get"), b.Proc("main.load"), b.Proc("main.fetch")}
	for _, proc := range list {
		b.Enter(main, proc)
	}
	b.Park(main, "sleep")
	b.At(100*millisecond).UnparkLate(main, 0)
	b.Start(main, 0)
	for _, proc := range slices.Backward(list) {
		b.At(b.Now()+millisecond).Exit(main, proc)
	}
	b.End(main)
	p, err := profile.New(b.Trace())
	if err != nil {
		t.Fatal(err)
	}
	f := &Facts{Profile: p}
	if got := f.lessOf(f.written("main.get"), f.written("main.load"), 0.5); got != "wait:main.fetch=-50%" {
		t.Errorf("found %q, expected less waiting in main.fetch", got)
	}
}
