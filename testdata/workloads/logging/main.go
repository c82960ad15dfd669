// Command logging has the shape of the case study in Quartz (Anderson and
// Lazowska, section 4): serial input, serial logging, then parallel work.
//
// T = S + L + W/P, and NPT is S, L and W/P: logging is 3 % of the serial time and
// 27 % of the time on 18 processors, and without it the run is shorter by exactly
// L.
package main

import (
	"flag"
	"sync"
	"time"

	"workloads/cpu"
)

var m *cpu.CPU

//go:noinline
func input(units float64) { m.Run(units) }

//go:noinline
func logging(units float64) { m.Run(units) }

//go:noinline
func work(units float64) { m.Run(units) }

func main() {
	flags := cpu.DefineFlags(10 * time.Millisecond)
	s := flag.Float64("s", 3.0, "units of serial input")
	l := flag.Float64("l", 3.4, "units of logging")
	w := flag.Float64("w", 108.0, "units of work, over all processors")
	flag.Parse()
	m = cpu.New(flags)
	p := m.Procs()
	m.Report(*s+*l+*w/float64(p), "", func() {
		input(*s)
		if *l > 0 {
			logging(*l)
		}
		var wg sync.WaitGroup
		for range p {
			wg.Go(func() { work(*w / float64(p)) })
		}
		wg.Wait()
	})
}
