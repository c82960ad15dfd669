package profile

import (
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/trace"
	"qinst.dev/trace/tracetest"
)

// However often objects are folded, what is known of waits adds up to the same.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }).Trace()
		every := rapid.IntRange(1, 9).Draw(t, "every")
		var sums [2]struct{ waits, waited, ops int64 }
		for i := range sums {
			b := newBuilder(tr)
			seen := 0
			losses, err := tr.Events(func(events []trace.Event) error {
				for k := range events {
					if seen++; i == 1 && seen%every == 0 {
						b.objects.fold(false)
					}
					if err := b.batch(events[k : k+1]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			b.finish()
			blamed := int64(0)
			for _, o := range b.profile(losses).Objects {
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
