package why

import (
	"slices"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// calls is a run in which main.outer calls main.a and main.b, and both call main.help.
func calls(t *testing.T) *advice.Facts {
	t.Helper()
	b := tracetest.New(1)
	outer, a, other, help := b.Proc("main.outer"), b.Proc("main.a"), b.Proc("main.b"), b.Proc("main.help")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, outer)
	for _, by := range []int{0, 1, 1} {
		p := a
		if by == 1 {
			p = other
		}
		b.Enter(g, p)
		b.Enter(g, help)
		b.At(b.Now() + 1e6)
		b.Exit(g, help)
		b.Exit(g, p)
	}
	b.Exit(g, outer)
	b.End(g)
	p, err := profile.NewWithin(b.Trace(), profile.Within{})
	if err != nil {
		t.Fatal(err)
	}
	return &advice.Facts{Profile: p}
}

// Of procedures that gain the same the narrowest is named: not what contains it, nor a helper that
// others call, too. Two that gain something each do not hide each other.
func TestNarrowest(t *testing.T) {
	t.Parallel()
	f := calls(t)
	entry := func(name string) *profile.Entry {
		is := func(e profile.Entry) bool { return e.Kind == profile.KindProc && e.Name == name }
		i := slices.IndexFunc(f.Entries, is)
		if i < 0 {
			t.Fatalf("found no %s in the profile", name)
		}
		return &f.Entries[i]
	}
	for _, c := range []struct {
		name  string
		gains map[string]float64
		want  []string
	}{
		{"one caller", map[string]float64{"main.outer": 10, "main.help": 10, "main.b": 10, "main.a": 0},
			[]string{"main.a", "main.b"}},
		{"the helper", map[string]float64{"main.outer": 10, "main.help": 10, "main.b": 6, "main.a": 4},
			[]string{"main.a", "main.b", "main.help"}},
		{"what is around", map[string]float64{"main.outer": 20, "main.b": 6, "main.a": 4},
			[]string{"main.a", "main.b", "main.outer"}},
		{"both", map[string]float64{"main.outer": 10, "main.b": 6, "main.a": 4}, []string{"main.a", "main.b"}},
	} {
		work := map[string]float64{"main.outer": 3e6, "main.help": 3e6, "main.b": 2e6, "main.a": 1e6}
		var list []part
		for _, name := range []string{"main.outer", "main.help", "main.b", "main.a"} {
			if gain, ok := c.gains[name]; ok {
				list = append(list, part{entry(name), work[name], gain})
			}
		}
		var got []string
		for _, p := range narrowest(f, list) {
			got = append(got, p.entry.Name)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, expected %v", c.name, got, c.want)
		}
	}
}
