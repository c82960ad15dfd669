package correct_test

import (
	"testing"

	"qinst.dev/internal/analysis/correct"
)

// A processor that has been idle for long takes long to wake up. In every other round probes make
// one goroutine work 45 us instead of 6, so that the other one's processor wakes up in 50 us and
// not in 5: without probes it does in 5.
func TestHandOver(t *testing.T) {
	t.Parallel()
	const rounds = 40
	b := priced(2)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	other := b.Go(g, "main.other")
	b.Start(other, 1)
	b.Wait(other, "chan receive", 0x1000, 0)
	for i := range rounds {
		work, wake := int64(6*us), int64(5*us)
		if i%2 == 1 {
			work, wake = 45*us, 50*us
			for range 13 { // 39 us
				b.Enter(g, f)
				b.Exit(g, f)
			}
		}
		b.At(b.Now() + work)
		b.Unpark(g, other)
		b.Wait(g, "chan receive", 0x1008, 0)
		b.At(b.Now() + wake)
		b.Start(other, 1)
		b.At(b.Now() + 100*us)
		b.Unpark(other, g)
		b.Wait(other, "chan receive", 0x1000, 0)
		b.At(b.Now() + 5*us)
		b.Start(g, 0)
	}
	b.End(g)
	r := corrected(t, b)
	// what events of scheduling cost on the path of a round: two of its six stand before waits
	const least, most = 4 * 2500, 6 * 2500
	measured := int64(rounds/2) * (116 + 200) * us
	if r.Measured != measured || r.Model < rounds*(116*us-most) || r.Model > rounds*(116*us-least) {
		t.Errorf("found %d ns of %d, expected %d to %d of %d", r.Model, r.Measured, rounds*(116*us-most),
			rounds*(116*us-least), measured)
	}
	slow, err := correct.New(b.Trace(), correct.Options{Model: correct.Pessimistic})
	if err != nil || slow.Model < rounds*(116*us-most)+rounds/2*45*us {
		t.Errorf("found %d ns, %v, expected hand-overs as they were", slow.Model, err)
	}
}
