package extensions

import (
	"testing"

	"qinst.dev/sddf/spec"
)

// BenchmarkPipeline is what a record costs in memory: of a program that only calls.
func BenchmarkPipeline(b *testing.B) {
	words := make([]uint64, 4000)
	for i := range words {
		kind, point := uint64(spec.EvEnter), uint64(i%4)
		if i%4 >= 2 {
			kind, point = spec.EvExit, uint64(3-i%4)
		}
		words[i] = 100<<32 | kind<<24 | point
	}
	for _, c := range []struct {
		name  string
		kinds Kinds
		ext   Extension
	}{{"null", Procedures, nothing{}}, {"profile", Procedures, &profiler{}},
		{"profile and drop", Procedures | Drops, &profiler{}}} {
		b.Run(c.name, func(b *testing.B) {
			p := newPipeline(memory{})
			p.use(c.name, c.kinds, c.ext)
			s, _ := p.stream(1)
			own := make([]uint64, len(words))
			blk := &block{}
			b.ReportAllocs()
			for i := range b.N {
				copy(own, words)
				*blk = block{num: 1, seq: uint64(i), ticks: uint64(i) * 400000, g: 1, words: own, full: true,
					dropped: blk.dropped}
				clear(blk.dropped)
				s.blocks = append(s.blocks, blk)
				p.run(1<<64 - 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(words)), "ns/event")
		})
	}
}

type nothing struct{}

func (nothing) Batch(*Batch)     {}
func (nothing) Flush(*Out, bool) {}

// memory is a sink that keeps nothing.
type memory struct{}

func (memory) drop(uint32)                         {}
func (memory) change(*block) bool                  { return true }
func (memory) write(*block)                        {}
func (memory) packet([]byte)                       {}
func (memory) define(*spec.Record) uint32          { return 0 }
func (memory) record(uint32) *spec.Record          { return nil }
func (memory) ns(ticks uint64) int64               { return int64(ticks) }
func (memory) function(uint64) string              { return "" }
func (memory) table(i int) ([]Point, uint32, bool) { return make([]Point, 16), 0, i == 0 }
func (memory) say(string)                          {}
