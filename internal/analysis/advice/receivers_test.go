package advice

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const millisecond = 1_000_000

// TestReceivesAlone: one goroutine receives from two channels and always works, so that the senders
// of both wait. If it does not always work, they do not wait for its work.
func TestReceivesAlone(t *testing.T) {
	for _, busy := range []bool{true, false} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		run, put := b.Proc("main.run"), b.Proc("main.put")
		b.Start(main, 0)
		var senders []tracetest.G
		var sends, receives []uint32
		for k, name := range []string{"main.events", "main.beats"} {
			g := b.Go(main, "main.put")
			sends = append(sends, b.Object(name, spec.OpSend))
			receives = append(receives, b.Object(name, spec.OpReceive))
			b.In(sends[k], put)
			b.In(receives[k], run)
			b.Channel(main, 0x1000*uint64(k+1), 0)
			b.Start(g, 1)
			b.Enter(g, put)
			b.Wait(g, "chan send", 0x1000*uint64(k+1), 0)
			senders = append(senders, g)
		}
		b.Enter(main, run)
		for n := range int64(20) {
			if b.At((n + 1) * 10 * millisecond); !busy && n%2 == 0 {
				b.Park(main, "sleep")
				b.At((n+2)*10*millisecond).UnparkLate(main, 0)
				b.Start(main, 0)
			}
			k := n % 2
			at := 0x1000 * uint64(k+1)
			b.Sync(main, receives[k], at, 0)
			b.Unpark(main, senders[k])
			b.Start(senders[k], 1)
			b.Sync(senders[k], sends[k], at, 0)
			b.Wait(senders[k], "chan send", at, 0)
		}
		b.At(b.Now()+millisecond).Exit(main, run)
		b.End(main)
		source := b.Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		f := Gather(source, p)
		if list := receivesAlone(f); len(list) != 0 != busy || busy && len(list[0].Delays) != 2 {
			t.Errorf("always busy: %v, found: %+v", busy, list)
		}
		for _, it := range Of(f) { // of a part of the run whose worth is known
			if it.ID == "one-receiver" || it.ID == "one-processor" &&
				!strings.Contains(it.Text, "goroutines wait to send at main.beats and main.events") {
				t.Errorf("found %q", it.Text)
			}
		}
	}
}

// TestSetUp: work before other goroutines are started is a remark, unless much is gained by
// dividing it.
func TestSetUp(t *testing.T) {
	for load, remark := range map[int64]bool{30: true, 200: false} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		loads, work := b.Proc("main.load"), b.Proc("main.work")
		b.Enter(main, loads)
		b.At(load*millisecond).Exit(main, loads)
		g, h := b.Go(main, "main.work"), b.Go(main, "main.work")
		b.Wait(main, "sync.WaitGroup.Wait", 0x1000, 0)
		for k, x := range []tracetest.G{g, h} {
			b.Start(x, k)
			b.Enter(x, work)
		}
		b.At((load + 200) * millisecond)
		b.Exit(g, work)
		b.End(g)
		b.Exit(h, work)
		b.Unpark(h, main)
		b.End(h)
		b.Start(main, 0)
		b.End(main)
		source := b.Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, it := range Of(Gather(source, p)) {
			if it.Subject.Name != "main.load" || it.ID == "less-work" || it.ID == "all-busy" {
				continue
			}
			if found = true; it.Remark != remark {
				t.Errorf("%d ms: found %q, remark: %v", load, it.Text, it.Remark)
			}
		}
		if !found {
			t.Errorf("%d ms: found nothing", load)
		}
	}
}

// TestLockOperations: taking a lock may take long without any wait for it, as its memory does
// that processors fight for.
func TestLockOperations(t *testing.T) {
	for how, want := range map[replay.Mechanism]bool{replay.Locking: true, replay.Maps: false} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		is := b.Proc("main.is")
		lock, unlock := b.Object("main.mu", spec.OpRLock), b.Object("main.mu", spec.OpRUnlock)
		b.In(lock, is)
		b.Enter(main, is)
		b.Sync(main, lock, 0x1000, 0)
		b.At(100*millisecond).Sync(main, unlock, 0x1000, 0)
		b.Exit(main, is)
		b.End(main)
		source := b.Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		f := Gather(source, p)
		e := f.written("main.is")
		e.Doing = []profile.Doing{{How: how, By: "sync.(*RWMutex).RLock", Line: source.Points[lock].Line,
			Part95: profile.Part95{Share: 0.7, In: [2]float64{0.5, 0.9}}}}
		found := false
		for _, it := range mechanisms(f) {
			found = it.ID == "many-operations" && it.Subject.Name == "main.mu"
		}
		if found != want {
			t.Errorf("%s: found a conclusion about the lock: %v, expected %v", how, found, want)
		}
	}
}
