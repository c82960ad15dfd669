package profile_test

import (
	"slices"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// A goroutine is alone while no other one of the program runs or could; the collector's do not
// count, nor does it matter that a processor is idle.
func TestAlone(t *testing.T) {
	b := tracetest.New(2)
	load, serve := b.Proc("main.load"), b.Proc("main.serve")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	worker := b.Go(g, "runtime.gcBgMarkWorker")
	b.Start(worker, 1)
	b.Enter(g, load)
	b.At(300)
	b.Exit(g, load)
	b.Park(worker, "GC worker (idle)")
	b.Enter(g, serve)
	other := b.Go(g, "main.other") // runnable from here on
	b.At(400)
	b.Start(other, 1)
	b.At(450)
	b.Wait(other, "GC assist wait", 0, 0) // it has work all the same
	b.At(500)
	b.Unpark(g, other)
	b.Start(other, 1)
	b.At(600)
	b.End(other)
	b.At(650)
	b.Exit(g, serve)
	b.End(g)
	b.At(700)
	p := profileOf(t, b)
	if p.Alone != 300+50 {
		t.Errorf("one goroutine alone for %d ns, expected 350", p.Alone)
	}
	for name, want := range map[string]int64{"main.load": 300, "main.serve": 50} {
		k := slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Name == name })
		if k < 0 || p.Entries[k].SelfAlone != want || p.Entries[k].Alone != want {
			t.Errorf("%s: %+v, expected %d ns alone", name, p.Entries[max(k, 0)], want)
		}
	}
	if !slices.Equal(p.AlonePath, []string{"main.load"}) {
		t.Errorf("most of it is in %q, expected main.load", p.AlonePath)
	}
}
