package advice_test

import (
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// A loop that asks a channel again and again spins, although it is a wait in computed runs.
func TestAsking(t *testing.T) {
	for _, asks := range []bool{true, false} {
		b := tracetest.New(2)
		proc, loop := b.Proc("main.collect"), b.Loop("for", false)
		receive := b.Object("main.ch", spec.OpReceive)
		b.In(loop, proc)
		if asks {
			b.Asks(receive, proc)
		}
		worker, collector := b.Go(0, "runtime.main"), b.Go(0, "main.collect")
		b.Start(worker, 0)
		b.Enter(worker, b.Proc("main.work"))
		b.Start(collector, 1)
		b.Enter(collector, proc)
		b.Enter(collector, loop)
		b.Sync(collector, receive, 0x1000, 0)
		b.At(100*ms).Wait(collector, "sleep", 0, 0)
		facts, err := advice.Read(b.Trace(), profile.Within{})
		if err != nil {
			t.Fatal(err)
		}
		items := advice.Of(facts)
		i := slices.IndexFunc(items, func(it advice.Item) bool { return it.ID == "spinning" })
		if (i >= 0) != asks || asks && !strings.Contains(items[i].Text, "50.0% of the processor time went into loops that only wait, most of it in main.collect: for") {
			t.Errorf("asks %v: %q", asks, advice.Texts(items))
		}
	}
}
