package predict_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// asker is a consumer that asks a channel over and over for what a producer makes every 10 ms, ten
// times, and uses each for 2 ms. If it sleeps, that is for 1 ms at a time. It finds out half of
// that later.
func asker(sleeps bool) *tracetest.Builder {
	b := tracetest.New(2)
	produce, loop, consume := b.Proc("main.produce"), b.Proc("main.asks"), b.Proc("main.consume")
	send, receive := b.Object("main.ch", spec.OpSend), b.Object("main.ch", spec.OpReceive)
	main := b.Go(0, "runtime.main")
	b.Asks(receive, loop)
	b.Start(main, 0)
	b.Channel(main, 0x1000, 16)
	producer, consumer := b.Go(main, "main.producer"), b.Go(main, "main.asks")
	b.Park(main, "sync.WaitGroup.Wait")
	b.Start(producer, 0)
	b.Enter(producer, produce)
	b.Start(consumer, 1)
	b.Enter(consumer, loop)
	at, late := int64(0), int64(1000)
	if sleeps {
		late = ms / 2
	}
	for k := range int64(10) {
		sent := (k + 1) * 10 * ms
		for ; sleeps && at+ms/10+ms < sent+ms/2; at += ms/10 + ms {
			b.At(at+ms/10).Wait(consumer, "sleep", 0, b.Stack("time.Sleep", "main.asks"))
			b.At(at+ms/10+ms).UnparkLate(consumer, 0)
			b.Start(consumer, 1)
		}
		b.At(max(sent, b.Now())).Sync(producer, send, 0x1000, 1)
		if k == 9 {
			b.Exit(producer, produce)
			b.End(producer)
		}
		at = sent + late
		b.At(at).Sync(consumer, receive, 0x1000, 0)
		b.Enter(consumer, consume)
		at += 2 * ms
		b.At(at).Exit(consumer, consume)
	}
	b.Unpark(consumer, main)
	b.Exit(consumer, loop)
	b.End(consumer)
	b.Start(main, 1)
	b.End(main)
	return b
}

// TestAskers: a goroutine that asks over and over waits for the one that has what it asks for.
func TestAskers(t *testing.T) {
	t.Parallel()
	for _, sleeps := range []bool{false, true} {
		p, _, err := steps.Build(asker(sleeps).Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var changes []predict.WhatIf
		for _, text := range []string{"main.produce=-50%", "main.consume=-50%", "self:main.asks=-50%"} {
			w, err := predict.ParseWhatIf(text)
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, w)
		}
		r := predict.New(p, predict.Ask{Procs: []int{2}, Policy: sim.Sharing, WhatIf: changes})
		for i, want := range []float64{50, 1, 0} { // ms of some 102
			if got := float64(r.WhatIf[i].Gain) / ms; math.Abs(got-want) > 1 {
				t.Errorf("sleeps %v: %s gains %v ms, expected %v", sleeps, r.WhatIf[i].Change, got, want)
			}
		}
		if got := float64(r.Runs[0].T) / ms; math.Abs(got-102) > 1 {
			t.Errorf("sleeps %v: the computed run takes %v ms, expected 102", sleeps, got)
		}
	}
}
