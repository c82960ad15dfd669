package advice

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestHolders: what goroutines wait for while they have a permit, if it is most of what they do.
func TestHolders(t *testing.T) {
	t.Parallel()
	for waits, want := range map[int64]string{80: "wait at main.wg for 80 % of that time", 20: ""} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		build := b.Proc("main.build")
		acquire, release := b.Object("main.sem", spec.OpSend), b.Object("main.sem", spec.OpReceive)
		done, wait := b.Object("main.wg", spec.OpDone), b.Object("main.wg", spec.OpWait)
		for _, o := range []uint32{acquire, release, done, wait} {
			b.In(o, build)
		}
		b.Enter(main, build)
		b.Channel(main, 0x100, 1)
		b.Sync(main, acquire, 0x100, 0)
		part := b.Go(main, "main.part")
		b.Start(part, 1)
		b.At((100-waits)*millisecond).Wait(main, "sync.WaitGroup.Wait", 0x200, 0)
		b.At(100*millisecond).Sync(part, done, 0x200, 0)
		b.Unpark(part, main)
		b.Start(main, 0)
		b.Sync(main, wait, 0x200, 0)
		b.Sync(main, release, 0x100, 0)
		b.End(part)
		b.Exit(main, build)
		b.At(150 * millisecond).End(main)
		source := b.Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		f := Gather(source, p)
		sem := profile.Object{Name: "main.sem", Kind: "channel", WaitedFor: []profile.Wait{{Reason: "chan send", Time: 9}}}
		if got := f.holders(&sem).meanwhile(); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%d of 100 ms are waits: found %q, expected %q", waits, got, want)
		}
	}
}
