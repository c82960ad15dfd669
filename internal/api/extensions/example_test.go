package extensions_test

import (
	"bytes"
	"fmt"
	"strings"

	"qinst.dev/extensions"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// requests is the trace of a program that handles n requests, of 1 to 9 microseconds and
// the last one of a hundred; half of each is parse, under a lock.
func requests(n int) []byte {
	b := tracetest.New(1)
	handle, parse := b.Proc("main.handle"), b.Proc("main.parse")
	lock, unlock := b.Object("main.mu", "lock"), b.Object("main.mu", "unlock")
	g := b.Go(0, "main.serve")
	b.Start(g, 0)
	for i := range n {
		took := 1000 * int64(i%9+1)
		if i == n-1 {
			took = 100000
		}
		start := b.Now() + 1000
		b.At(start).Enter(g, handle)
		b.At(start+100).Sync(g, lock, 0x1000, 0)
		b.At(start+200).Enter(g, parse)
		b.At(start+took/2).Exit(g, parse)
		b.At(start+took/2+100).Sync(g, unlock, 0x1000, 0)
		b.At(start+took).Exit(g, handle)
	}
	b.At(b.Now() + 1000).End(g)
	return b.Bytes()
}

// show prints what an extension makes of such a trace: its records, and how many of the
// calls are left.
func show(n int, name string) {
	shipped, extension, err := extensions.Find(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := requests(n)
	f, err := extensions.Open(bytes.NewReader(in), int64(len(in)))
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Use(shipped.Name, shipped.Kinds, extension)
	var out bytes.Buffer
	if err := f.Reduce(&out); err != nil {
		fmt.Println(err)
		return
	}
	r, err := sddf.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for p, err := range r.Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if p.Kind == spec.Data && p.Record.Tag >= spec.FirstUserTag {
			var line strings.Builder
			fmt.Fprintf(&line, "%s:", p.Name)
			for i, field := range p.Record.Fields {
				fmt.Fprintf(&line, " %s=%v", field.Name, p.Values[i])
			}
			fmt.Println(line.String())
		}
	}
	tr, err := trace.New(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	left := 0
	_, err = tr.Events(func(events []trace.Event) error {
		for i := range events {
			if events[i].Kind == trace.Enter {
				left++
			}
		}
		return nil
	})
	fmt.Println(left, "of", 2*n, "calls are left", err)
}

func Example_profile() {
	show(10, "profile")
	// Output:
	// procedure profile: procedure=0 calls=10 total=145000 self=74500 least=1000 most=100000
	// procedure profile: procedure=1 calls=10 total=70500 self=70500 least=300 most=49800
	// 0 of 20 calls are left <nil>
}

func Example_lifetimes() {
	show(10, "lifetimes")
	// Output:
	// procedure lifetimes: procedure=0 calls=10 least=1000 median=6015 p90=100000 p99=100000 p999=100000 most=100000 bounds=[1007 2015 3007 4031 5055 6015 7039 8063 9087 100351] counts=[1 1 1 1 1 1 1 1 1 1]
	// procedure lifetimes: procedure=1 calls=10 least=300 median=2815 p90=49800 p99=49800 p999=49800 most=49800 bounds=[303 807 1311 1807 2303 2815 3327 3807 4351 50175] counts=[1 1 1 1 1 1 1 1 1 1]
	// 20 of 20 calls are left <nil>
}

func Example_transitions() {
	show(10, "transitions")
	// Output:
	// call transition: from=0 to=1 calls=10 probability=1 total=70500
	// call transition: from=4294967295 to=0 calls=10 probability=1 total=145000
	// 20 of 20 calls are left <nil>
}

func Example_locks() {
	show(10, "locks")
	// Output:
	// lock summary: object=4096 point=2 operations=20 waits=0 waited=0 longest wait=0 holds=10 held=72500 longest hold=50000
	// 20 of 20 calls are left <nil>
}

func Example_goroutines() {
	show(10, "goroutines")
	// Output:
	// goroutine lifetimes: function=main.serve created=1 ended=1 most live=1 lifetime=156000 least=156000 median=156000 most=156000 running=156000
	// 20 of 20 calls are left <nil>
}

func Example_sample() {
	show(10, "sample:5")
	// Output:
	// sample weight: procedure=0 calls=10 kept=2 weight=5
	// sample weight: procedure=1 calls=10 kept=2 weight=5
	// 4 of 20 calls are left <nil>
}

func Example_heavy() {
	show(10, "heavy:2")
	// Output:
	// heavy path: rank=1 path=[0] calls=10 self=74500 error=0
	// heavy path: rank=2 path=[0 1] calls=10 self=70500 error=0
	// 20 of 20 calls are left <nil>
}

func Example_windows() {
	show(10, "windows:1ms")
	// Output:
	// procedure window: window=0 procedure=0 calls=10 total=145000 self=74500 most=100000
	// procedure window: window=0 procedure=1 calls=10 total=70500 self=70500 most=49800
	// 0 of 20 calls are left <nil>
}

func Example_outliers() {
	show(2000, "outliers:p99.9")
	// Output:
	// outlier: procedure=1 g=1 start=24982400 took=49800 self=49800 usual=2303 path=[0 1] called=[] calls=[] times=[]
	// outlier: procedure=0 g=1 start=24982000 took=100000 self=50200 usual=5055 path=[0] called=[1] calls=[1] times=[49800]
	// 0 of 4000 calls are left <nil>
}
