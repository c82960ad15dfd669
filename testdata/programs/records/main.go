// Command records emits records of its own from several goroutines. It prints the
// contents that its trace must have, as
//
//	record goroutines count sum
//
// and the cost of a record with five fields, in nanoseconds and allocations.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

type cacheMiss struct {
	Key   string        `sddf:"key"`
	Shard uint8         `sddf:"shard"`
	Size  int           `sddf:"size,unit=bytes,doc=of the entry"`
	Took  time.Duration `sddf:"took"`
	Hot   bool          `sddf:"hot"`
}

type sample struct {
	When   time.Time  `sddf:"when"`
	Matrix [2][3]int8 `sddf:"matrix"`
	List   []float32
	Raw    []byte `sddf:"raw"`
}

var (
	miss  = sddf.Define[cacheMiss]("cache miss")
	taken = sddf.Define[sample]("sample")
)

//go:noinline
func lookup(worker, i int) {
	miss.Emit(cacheMiss{strconv.Itoa(worker), uint8(worker), i, time.Duration(i) * time.Microsecond, i%2 == 0})
}

func main() {
	const workers, each = 4, 1000
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				lookup(w, i)
			}
		})
	}
	wg.Wait()
	fmt.Println(strings.ReplaceAll(miss.Record().Name, " ", "-"), workers, workers*each, workers*each*(each-1)/2)

	for i := range 3 {
		taken.Emit(sample{time.Unix(1e9, int64(i)), [2][3]int8{{-1, 2, -3}, {4, -5, 6}}, []float32{0.5, 1.5}, make([]byte, 5000*i)})
	}
	fmt.Println("sample", 1, 3, 0)
	taken.Emit(sample{Raw: make([]byte, 1<<20)}) // larger than a record can be: counted

	d, err := sddf.NewDescriptor("dynamic", spec.Field{Name: "n", Type: spec.U16}, spec.Field{Name: "text", Type: "[]str"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := range 10 {
		if err := d.Emit(i, []string{"a", "b"}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println("dynamic", 1, 10, 45)
	if err := d.Emit(-1, []string{}); err == nil {
		fmt.Println("-1 is no u16")
		os.Exit(1)
	}
	if len(os.Args) > 1 {
		r := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				miss.Emit(cacheMiss{"some key", 3, 1234567, 42 * time.Microsecond, true})
			}
		})
		fmt.Println(float64(r.T.Nanoseconds())/float64(r.N), "ns", r.AllocsPerOp(), "allocations")
	}
}
