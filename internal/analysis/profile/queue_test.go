package profile

import (
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// folding folds what is not in use now and then.
type folding struct {
	*builder
	every, seen int
}

func (f *folding) Turn(g *replay.G, now trace.Time, to trace.State, busy bool) {
	if f.seen++; f.seen%f.every == 0 {
		f.Forget()
	}
	f.builder.Turn(g, now, to, busy)
}

// However often objects are folded, what is known of waits adds up to the same.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }).Trace()
		every := rapid.IntRange(1, 9).Draw(t, "every")
		var sums [2]struct{ waits, waited, ops int64 }
		for i := range sums {
			b := newBuilder(tr, Within{})
			v := replay.Visitor(b)
			if i == 1 {
				v = &folding{builder: b, every: every}
			}
			losses, err := b.r.Run(v)
			if err != nil {
				t.Fatal(err)
			}
			b.finish()
			blamed := int64(0)
			for _, o := range newProfile(b, Within{}, tr.Tables(), losses).Objects {
				s := &sums[i]
				s.waits, s.waited, s.ops = s.waits+o.Waits, s.waited+o.Wait, s.ops+int64(o.Ops)
				queued, by := int64(0), o.Unattributed
				for n, ns := range o.Waiting {
					queued += int64(n) * ns
				}
				for _, w := range o.Blamed {
					by += w.Time
					blamed += w.Time
				}
				if queued != o.Wait || by != o.Wait {
					t.Errorf("%s: %d waited, %d in queues, %d blamed or not", o.Name, o.Wait, queued, by)
				}
			}
			for _, ns := range b.objects.blamed {
				blamed -= ns
			}
			if blamed != 0 {
				t.Errorf("%d ns more are blamed by object than by procedure", blamed)
			}
		}
		if sums[0] != sums[1] {
			t.Errorf("%+v, folded %+v", sums[0], sums[1])
		}
	})
}
