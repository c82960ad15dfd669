package advice

import (
	"slices"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// TestUnequalEndings: of workers that started together and sleep, the last one goes on alone.
func TestUnequalEndings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		others int64 // when these end, in ms
		start  int64 // when the last one starts
		most   int64 // the bound, in ms; 0: no conclusion
	}{{100, 0, 200}, {380, 0, 0}, {100, 100, 0}} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		f := b.Proc("main.clerk")
		worker := func() tracetest.G {
			g := b.Go(main, "main.clerk")
			b.Start(g, 1)
			b.Enter(g, f)
			b.Park(g, "sleep")
			return g
		}
		list := []tracetest.G{worker(), worker()}
		b.At(c.start * millisecond)
		list = append(list, worker())
		for i, g := range list {
			b.At((c.others+int64(i))*millisecond).UnparkLate(g, 0)
			b.Start(g, 1)
			if i == 2 {
				b.Park(g, "sleep")
				b.At(402*millisecond).UnparkLate(g, 0)
				b.Start(g, 1)
			}
			b.Exit(g, f)
			b.End(g)
		}
		b.End(main)
		source := b.Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		items := unequalEndings(Gather(source, p))
		i := slices.IndexFunc(items, func(it Item) bool { return it.Subject.Name == "main.clerk" })
		if i >= 0 != (c.most > 0) || i >= 0 && (items[i].AtMost/millisecond+1)/10*10 != c.most {
			t.Errorf("%+v: found %+v", c, items)
		}
	}
}
