// The parts of which "go run ./internal/trials fresh" makes programs: each file is a mechanism, as
// it is found in programs, and its repaired form. The comment of the first function says what is
// wrong, and the ids of conclusions that say so. A program has some of these files, with names of
// its own in place of theirs, and a main function of its own.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// size is how much a part does.
type size struct {
	n, us int           // items, and work for each, in us
	g     int           // goroutines
	waits int           // how often something waits for the time
	wait  time.Duration // and how long
}

// still are the parts whose waits take no time, so that it shows what they are worth.
var still = flag.String("still", "", "the `parts` that wait for no time")

func has(list, name string) bool { return strings.Contains(","+list+",", ","+name+",") }

func (s size) of(part string) size {
	if has(*still, part) {
		s.wait = time.Microsecond
	}
	return s
}

var kept atomic.Uint64

// keep uses a value, so that it is computed.
func keep(v uint64) {
	if v == 0xdead_beef_dead_beef {
		kept.Store(v)
	}
}

func main() {
	repaired := flag.String("repaired", "", "the `parts` that run in their repaired form")
	flag.Parse()
	began := time.Now()
	run(func(name string) bool { return has(*repaired, name) })
	fmt.Println("run", time.Since(began), runtime.GOMAXPROCS(0))
}
