// Command sorter is the parallel sorter of the VPPB papers: n readers, one at a
// time in index order, n sorts in parallel, n merges one at a time in index
// order after all reads.
//
// T = max(n*r + n*m, max over j of j*r + s + (n-j+1)*m). While sorting stays below
// its threshold it does not matter at all, although it uses most processor time.
// The real form needs 1 + ceil(s/r) processors.
package main

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"time"

	"workloads/cpu"
)

var (
	m       *cpu.CPU
	n       = flag.Int("n", 7, "number of readers, sorts and merges")
	readT   = flag.Float64("r", 0.5, "units of a read")
	sortT   = flag.Float64("s", 0.4, "units of a sort")
	mergeT  = flag.Float64("m", 0.6, "units of a merge")
	allRead sync.WaitGroup
)

//go:noinline
func read() { m.Run(*readT) }

//go:noinline
func sort() { m.Run(*sortT) }

//go:noinline
func merge() { m.Run(*mergeT) }

// turns hand a right on in index order.
type turns []chan struct{}

func newTurns(n int) turns {
	t := make(turns, n+1)
	for i := range t {
		t[i] = make(chan struct{}, 1)
	}
	t[0] <- struct{}{}
	return t
}

func worker(i int, reads, merges turns) {
	<-reads[i]
	read()
	allRead.Done()
	reads[i+1] <- struct{}{}
	sort()
	allRead.Wait()
	<-merges[i]
	merge()
	merges[i+1] <- struct{}{}
}

func expected() float64 {
	k := float64(*n)
	t := k**readT + k**mergeT
	for j := 1.0; j <= k; j++ {
		t = max(t, j**readT+*sortT+(k-j+1)**mergeT)
	}
	return t
}

func main() {
	flags := cpu.DefineFlags(100 * time.Millisecond)
	flag.Parse()
	m = cpu.New(flags)
	note := ""
	if need := 1 + int(math.Ceil(*sortT / *readT)); m.Procs() < min(need, *n) {
		note = fmt.Sprintf(" with %d processors", need)
	}
	m.Report(expected(), note, func() {
		reads, merges := newTurns(*n), newTurns(*n)
		allRead.Add(*n)
		var wg sync.WaitGroup
		for i := range *n {
			wg.Go(func() { worker(i, reads, merges) })
		}
		wg.Wait()
	})
}
