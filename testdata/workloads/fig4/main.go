// Command fig4 is the program of Figure 4 in Broberg, Lundberg and Grahn,
// "Performance optimization using extended critical path analysis in
// multithreaded programs on multiprocessors": three threads and the events X, Y
// and Z, with a=1 b=4 c=1 d=2 e=2 f=3.
//
// T = 11, 12 and 20 on 3, 2 and 1 processors. NPT on 3: b = e = 7/3,
// a = f = 11/6, d = 5/3, c = 1.
package main

import (
	"flag"
	"sync"
	"time"

	"workloads/cpu"
)

var m *cpu.CPU

//go:noinline
func a() { m.Run(1) }

//go:noinline
func b() { m.Run(4) }

//go:noinline
func c() { m.Run(1) }

//go:noinline
func d() { m.Run(2) }

//go:noinline
func e() { m.Run(2) }

//go:noinline
func f() { m.Run(3) }

// An event is signalled to one waiter; X and Y are signalled twice.
type event chan struct{}

func (ev event) signal() { ev <- struct{}{} }
func (ev event) wait()   { <-ev }

func thread1(x, z event) {
	a()
	x.signal()
	b()
	z.signal()
	c()
	x.wait()
	e()
}

func thread2(x, y event) {
	x.wait()
	c()
	y.signal()
	a()
	y.wait()
	d()
}

func thread3(x, y, z event) {
	y.wait()
	d()
	z.wait()
	e()
	x.signal()
	a()
	y.signal()
	f()
}

func main() {
	flags := cpu.DefineFlags(50 * time.Millisecond)
	flag.Parse()
	m = cpu.New(flags)
	expected := map[int]float64{1: 20, 2: 12}[min(m.Procs(), 3)]
	if m.Procs() >= 3 {
		expected = 11
	}
	m.Report(expected, "", func() {
		x, y, z := make(event, 1), make(event, 1), make(event, 1)
		var wg sync.WaitGroup
		wg.Go(func() { thread1(x, z) })
		wg.Go(func() { thread2(x, y) })
		wg.Go(func() { thread3(x, y, z) })
		wg.Wait()
	})
}
