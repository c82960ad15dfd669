package extensions

import (
	"fmt"
	"strconv"

	"qinst.dev/sddf"
)

// SampleWeight gives the number of calls of a procedure that each one in the trace stands for:
// one record each, at the end.
type SampleWeight struct {
	Procedure uint32  `sddf:"procedure,unit=probe"`
	Calls     uint64  `sddf:"calls"`
	Kept      uint64  `sddf:"kept"`
	Weight    float64 `sddf:"weight,doc=calls / kept"`
}

var sampleWeight = sddf.Define[SampleWeight]("sample weight")

// sample keeps the first of every n calls of a procedure, with its exit.
type sample struct {
	n     uint64
	calls []uint64
}

func newSample(option string) (Extension, error) {
	n, err := strconv.ParseUint(option, 10, 32)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("found %q, expected a number of calls of which one is kept, as in sample:100", option)
	}
	return &sample{n: n}, nil
}

func (s *sample) Batch(b *Batch) {
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == Enter {
			n := at(&s.calls, e.Point)
			if *n%s.n != 0 {
				b.Drop(i)
			}
			*n++
		}
	}
}

func (s *sample) Flush(out *Out, last bool) {
	if !last {
		return
	}
	for i, n := range s.calls {
		if n > 0 {
			kept := (n + s.n - 1) / s.n
			Emit(out, sampleWeight, SampleWeight{uint32(i), n, kept, float64(n) / float64(kept)})
		}
	}
}
