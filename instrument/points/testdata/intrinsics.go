package p

import (
	"math"
	"math/bits"
	"sync/atomic"
)

type counters struct {
	word  int64
	n     atomic.Int64
	ptr   atomic.Pointer[counters]
	value atomic.Value
}

//go:noinline
func (c *counters) all(x float64, k uint64) float64 { // want proc deferexit
	for i := range k { // want loop
		atomic.AddInt64(&c.word, int64(i))         // want skip call "compiler intrinsic"
		if c.n.Load() > 3 && bits.Len64(k)+3 > 4 { // want skip call "compiler intrinsic", skip call "compiler intrinsic"
			x += math.Floor(math.Sqrt(x)) // want skip call "compiler intrinsic", skip call "compiler intrinsic"
		}
		c.ptr.Store(c)   // want call "sync/atomic.(*Pointer[...]).Store"
		c.value.Load()   // want skip call "compiler intrinsic"
		x += math.Sin(x) // want call chained "math.Sin"
	}
	defer c.n.Add(1) // want call deferred
	return x
}

func (c *counters) get() int64 { return c.n.Load() } // want skip proc "inlinable", skip call "compiler intrinsic"
