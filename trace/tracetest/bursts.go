package tracetest

import (
	"encoding/binary"

	"qinst.dev/sddf/spec"
)

// found is what bursts find at a point, as the record has it.
type found struct{ plain, hits, squares, products uint64 }

// Plain adds activations of a procedure that ran without probes.
func (b *Builder) Plain(proc uint32, n uint64) {
	b.found(proc).plain += n
	b.points[proc].hits += n
	b.points[proc].flags |= spec.FlagTwice
}

// Burst adds a burst with so many activations of a procedure, which reached points in it so many
// times. They were counted, not traced.
func (b *Builder) Burst(proc uint32, activations uint64, reached map[uint32]uint64) {
	b.bursts++
	b.points[proc].hits += activations
	f := b.found(proc)
	f.hits, f.squares, f.products = f.hits+activations, f.squares+activations*activations, f.products+1
	for point, n := range reached {
		b.points[point].hits += n
		x := b.found(point)
		x.hits, x.squares, x.products = x.hits+n, x.squares+n*n, x.products+n*activations
	}
}

func (b *Builder) found(point uint32) *found {
	if b.points[point].found == nil {
		b.points[point].found = &found{}
	}
	return b.points[point].found
}

// writeBursts writes the record, if there is anything in it.
func (b *Builder) writeBursts() {
	var packed []byte
	for i := range b.points {
		if f := b.points[i].found; f != nil {
			for _, w := range []uint64{uint64(i), f.plain, f.hits, f.squares, f.products} {
				packed = binary.LittleEndian.AppendUint64(packed, w)
			}
		}
	}
	if packed != nil {
		b.must(b.w.Data(spec.TagBursts, b.ticks(), b.bursts, packed))
	}
}
