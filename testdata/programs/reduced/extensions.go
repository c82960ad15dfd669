package main

import (
	"os"
	"time"

	"qinst.dev/extensions"
	"qinst.dev/sddf"
)

// counted holds the counter's results.
type counted struct {
	Entered uint64 `sddf:"entered"`
	Ended   uint64 `sddf:"ended"`
	Flushes uint64 `sddf:"flushes"`
	Last    bool   `sddf:"last"`
}

var totals = sddf.Define[counted]("total")

// counter counts entries, and panics or is slow on request.
type counter struct {
	counted
	shown int
	calls extensions.Calls
}

func (c *counter) Batch(b *extensions.Batch) {
	for i := range b.Events {
		if b.Events[i].Kind == extensions.Enter {
			c.Entered++
		}
	}
	c.calls.Walk(b, func(*extensions.Call) { c.Ended++ })
	c.shown += len(b.Events)
	switch os.Getenv("REDUCED") {
	case "panics":
		if c.shown > 1000 {
			var none *counter
			none.Entered++
		}
	case "slow":
		time.Sleep(2 * time.Millisecond)
	case "hangs":
		if c.shown > 1000 {
			select {}
		}
	}
}

func (c *counter) Flush(out *extensions.Out, last bool) {
	c.Flushes++
	c.Last = last
	extensions.Emit(out, totals, c.counted)
}

func init() {
	if os.Getenv("REDUCED") != "" {
		extensions.Use("counter", extensions.Procedures, &counter{})
	}
}
