package profile_test

import (
	"slices"
	"testing"

	"qinst.dev/analysis/profile"
	"qinst.dev/sddf/spec"
	"qinst.dev/trace/tracetest"
)

// Time in which the system kept a running thread waiting has a line. The collector keeps what its threads' clocks say, the
// program the rest; nothing is lost.
func TestOffCPU(t *testing.T) {
	for _, c := range []struct {
		run, wait, collector int64
		f, assist, off       int64
	}{
		{750e6, 750e6, 100e6, 650e6, 100e6, 750e6},
		{1500e6, 1e6, 500e6, 1000e6, 500e6, 0}, // next to nothing
		{1000e6, 500e6, 600e6, 500e6, 500e6, 500e6},
	} {
		b := tracetest.New(1)
		f := b.Proc("main.f")
		g := b.Go(0, "runtime.main")
		b.Given(0, 0, 0, 0)
		b.Start(g, 0)
		b.Enter(g, f)
		b.At(1000e6)
		b.Note(g, spec.EvAssistBegin)
		b.At(1500e6)
		b.Note(g, spec.EvAssistEnd)
		b.Exit(g, f)
		b.End(g)
		b.Given(9, 10e6, 400e6, 0) // which ran no goroutine
		b.Given(0, c.run, c.wait, c.collector)
		p := profileOf(t, b)
		for name, want := range map[string]int64{"main.f": c.f, "[gc assist]": c.assist, "[off-CPU]": c.off} {
			got := int64(0)
			if k := slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Kind == profile.KindProc && e.Name == name }); k >= 0 {
				got = p.Entries[k].SelfBusy
			}
			if d := got - want; d < -1000 || d > 1000 {
				t.Errorf("%v: %s has %d ns, expected %d", c, name, got, want)
			}
		}
	}
}
