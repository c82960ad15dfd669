package advice

import (
	"math"
	"slices"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestAfterAnswers: of two goroutines that look for each answer, the second goes on for a time, or
// until the end of the run.
func TestAfterAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		channels int
		longer   int64 // us
		cut      bool  // the last one
		found    bool
	}{{10, 30_000, false, true}, {10, 30_000, true, true}, {10, 10, false, false}, {2, 30_000, false, false}} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		search := b.Proc("main.search")
		send, receive := b.Object("main.found", spec.OpSend), b.Object("main.found", spec.OpReceive)
		b.In(send, search)
		for n := range c.channels {
			found := uint64(0x1000 + 0x100*n)
			b.Channel(main, found, 2)
			fast, slow := b.Go(main, "main.search"), b.Go(main, "main.search")
			b.Wait(main, "chan receive", found, 0)
			b.Start(fast, 0)
			b.Start(slow, 1)
			b.Enter(fast, search)
			b.Enter(slow, search)
			b.At(b.Now()+10*millisecond).Sync(fast, send, found, 0)
			b.Unpark(fast, main)
			b.Exit(fast, search)
			b.End(fast)
			b.Start(main, 0)
			b.Sync(main, receive, found, 0)
			if b.At(b.Now() + c.longer*millisecond/1000); c.cut && n == c.channels-1 {
				break
			}
			b.Sync(slow, send, found, 0)
			b.Exit(slow, search)
			b.End(slow)
		}
		b.At(b.Now() + millisecond).End(main)
		source := b.Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		items := afterAnswers(Gather(source, p))
		i := slices.IndexFunc(items, func(it Item) bool { return it.Subject.Name == "main.search" })
		work := int64(c.channels) * c.longer * millisecond / 1000
		if i >= 0 != c.found || i >= 0 && math.Abs(items[i].Evidence[0].Value-float64(work)) > millisecond {
			t.Errorf("%+v: found %+v", c, items)
		}
	}
}
