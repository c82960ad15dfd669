package advice

import (
	"slices"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestFarMemory: a flag is a conclusion where samples show that a line is slow, for neighbors while
// others write, and in calls that last.
func TestFarMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags uint32
		slow  int64 // share of the line in percent
		calls int   // of each goroutine
		alone bool
		id    string // "": no conclusion
	}{
		{spec.FlagNeighbors, 90, 1, false, "false-sharing"},
		{spec.FlagNeighbors, 90, 1, true, ""},
		{spec.FlagNeighbors, 90, 500, false, ""},
		{spec.FlagNeighbors, 10, 1, false, ""},
		{spec.FlagStrides, 90, 500, true, "across-memory"},
		{spec.FlagStrides, 10, 500, false, ""},
		{0, 90, 1, false, ""},
	} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		count := b.Proc("main.count")
		list := []tracetest.G{main}
		if !c.alone {
			list = append(list, b.Go(main, "main.count"))
			b.Start(list[1], 1)
		}
		for i := range c.calls {
			for _, g := range list {
				b.Enter(g, count)
			}
			for _, g := range list {
				b.At(400*millisecond*int64(i+1)/int64(c.calls)).Exit(g, count)
			}
		}
		if !c.alone {
			b.End(list[1])
		}
		b.End(main)
		source := b.Trace()
		source.Points[count].Flags |= c.flags
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Name == "main.count" && e.Kind == profile.KindProc })
		e := &p.Entries[i]
		line := func(n int, percent int64) profile.LineTime {
			return profile.LineTime{Line: n, SelfNPT: percent * e.SelfNPT / 100,
				SelfNPTs: profile.Interval{Low: percent * e.SelfNPT / 110, High: e.SelfNPT}}
		}
		e.Lines = []profile.LineTime{line(10, (100-c.slow)/9), line(20, c.slow), line(30, (100-c.slow)/9)}
		id, at := "", 0
		for _, it := range Of(Gather(source, p)) {
			if it.ID == "false-sharing" || it.ID == "across-memory" {
				id, at = it.ID, it.Subject.Line
			}
		}
		if id != c.id || id != "" && at != 20 {
			t.Errorf("%+v: found %q in line %d, expected %q in line 20", c, id, at, c.id)
		}
	}
}
