package tracetest

import (
	"encoding/binary"

	"qinst.dev/sddf/spec"
)

// found is a point's result in bursts, as the record has it.
type found struct{ plain, hits, squares, products uint64 }

// Plain adds activations of a procedure that ran without probes.
func (b *Builder) Plain(proc uint32, n uint64) {
	b.points.found(proc).plain += n
	b.points.list[proc].hits += n
	b.points.list[proc].flags |= spec.FlagTwice
}

// Burst adds a burst with some activations of a procedure, which reached points in it the given
// numbers of times. They were counted, not traced.
func (b *Builder) Burst(proc uint32, activations uint64, reached map[uint32]uint64) {
	b.points.bursts++
	b.points.list[proc].hits += activations
	f := b.points.found(proc)
	f.hits, f.squares, f.products = f.hits+activations, f.squares+activations*activations, f.products+1
	for point, n := range reached {
		b.points.list[point].hits += n
		x := b.points.found(point)
		x.hits, x.squares, x.products = x.hits+n, x.squares+n*n, x.products+n*activations
	}
}

// Turns adds iterations of a loop that ran without probes.
func (b *Builder) Turns(loop uint32, n uint64) { b.points.found(loop).plain += n }

// BurstOfLoop adds a burst with some iterations of a loop, which reached points in it the given
// numbers of times.
func (b *Builder) BurstOfLoop(loop uint32, iterations uint64, reached map[uint32]uint64) {
	b.Burst(loop, iterations, reached)
	b.points.list[loop].hits -= iterations // which are no hits
}

func (ps *points) found(point uint32) *found {
	if ps.list[point].found == nil {
		ps.list[point].found = &found{}
	}
	return ps.list[point].found
}

// writeBursts writes the record, if there is anything in it.
func (ps *points) writeBursts(to *file, ticks uint64) {
	var packed []byte
	for i := range ps.list {
		if f := ps.list[i].found; f != nil {
			for _, w := range []uint64{uint64(i), f.plain, f.hits, f.squares, f.products} {
				packed = binary.LittleEndian.AppendUint64(packed, w)
			}
		}
	}
	if packed != nil {
		to.put(spec.TagBursts, ticks, ps.bursts, packed)
	}
}

// Hot is a trace of a program with two hot procedures and a loop that lasts. In main.hot, of
// 100,000 activations and some more with probes, main.two is called twice in each, main.some in
// some, and an interface's method, of two types, in each; it has a loop. main.short was hot for too
// short a time to know more than that it called main.two. main.cold is not hot. In main.main a loop
// went on without probes, which calls main.some three times in each iteration.
func Hot() *Builder {
	b := New(2)
	b.Attribute("count_cost_ps", 1000)
	begin, hot, short, cold := b.Proc("main.main"), b.Proc("main.hot"), b.Proc("main.short"), b.Proc("main.cold")
	loop := b.Loop("main.loop", false)
	b.In(loop, hot)
	two, some, method, none := b.Calls(hot, "main.two", 202), b.Calls(hot, "main.some", 3),
		b.Calls(hot, "main.Shape.M", 101), b.Calls(short, "main.two", 7)
	b.Calls(cold, "main.two", 5)
	long, often := b.Loop("main.long", false), b.Calls(begin, "main.some", 6)
	b.In(long, begin)
	b.InLoop(often, long)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, begin)
	b.At(1e6).Enter(g, cold)
	b.At(2e6).Exit(g, cold)
	b.At(3e6).Enter(g, hot)
	b.At(4e6).Enter(g, loop)
	b.At(5e6).Leave(g, loop, 10)
	b.At(6e6).Exit(g, hot)
	b.At(7e6).Enter(g, long)
	b.At(8e6).Leave(g, long, 50_802)
	b.Count(hot, 100) // before it was hot
	b.Turns(long, 50_000)
	b.Count(short, 4)
	b.Plain(hot, 100_000)
	b.Plain(short, 50)
	b.Burst(short, 3, map[uint32]uint64{none: 2})
	method1, activations := uint64(0), uint64(101)
	for i := range uint64(20) {
		a := 40 + i*7%13
		b.Burst(hot, a, map[uint32]uint64{two: 2 * a, some: i * i % 4, method: a, loop: a + i%5})
		b.BurstOfLoop(long, a, map[uint32]uint64{often: 3 * a})
		method1, activations = method1+a/4, activations+a
	}
	b.Callee(method, "main.(*T).M", activations-method1)
	b.Callee(method, "main.(*U).M", method1)
	b.At(9e6).Exit(g, begin)
	b.End(g)
	return b
}
