package extensions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"qinst.dev/sddf"
)

// HeavyPath is a path to a procedure on which much time was spent: one record each, at the end,
// the heaviest first. Their number is bounded: Self is too high by at most Error, and a path that
// is missing has less than the last one's Self.
type HeavyPath struct {
	Rank  uint32   `sddf:"rank"`
	Path  []uint32 `sddf:"path,unit=probe,doc=the outermost procedure first"`
	Calls uint64   `sddf:"calls,doc=since the path is kept"`
	Self  int64    `sddf:"self,unit=ns,doc=of the last procedure, without what it called"`
	Error int64    `sddf:"error,unit=ns"`
}

var heavyPath = sddf.Define[HeavyPath]("heavy path")

// heavy finds the heaviest paths in bounded memory (Space-Saving: Metwally, Agrawal and El
// Abbadi, ICDT 2005). A new path replaces the lightest one and inherits its weight, which is an
// upper bound of the weight it may have had before.
type heavy struct {
	n     int
	calls Calls
	paths map[uint64]*path
	heap  []*path // the lightest first
}

type path struct {
	hash         uint64
	self, excess uint64
	n            uint64
	points       []uint32
	at           int // in the heap
}

func newHeavy(option string) (Extension, error) {
	n, err := strconv.Atoi(cmp.Or(option, "100"))
	if err != nil || n < 1 || n > 1e6 {
		return nil, fmt.Errorf("found %q, expected a number of paths, as in heavy:100", option)
	}
	return &heavy{n: n, paths: map[uint64]*path{}}, nil
}

func (h *heavy) Batch(b *Batch) { h.calls.Walk(b, h.add) }

func (h *heavy) add(c *Call) {
	p := h.paths[c.Path]
	switch {
	case p != nil:
	case len(h.heap) < h.n:
		p = &path{hash: c.Path, at: len(h.heap)}
		h.heap = append(h.heap, p)
		p.points = h.calls.Stack(nil)
		h.paths[c.Path] = p
		h.up(p)
	default:
		p = h.heap[0]
		delete(h.paths, p.hash)
		p.hash, p.excess, p.n = c.Path, p.self, 0
		p.points = h.calls.Stack(p.points[:0])
		h.paths[c.Path] = p
	}
	p.n++
	p.self += c.Self()
	h.down(p)
}

func (h *heavy) swap(a, b *path) {
	h.heap[a.at], h.heap[b.at] = b, a
	a.at, b.at = b.at, a.at
}

func (h *heavy) up(p *path) {
	for p.at > 0 && h.heap[(p.at-1)/2].self > p.self {
		h.swap(p, h.heap[(p.at-1)/2])
	}
}

func (h *heavy) down(p *path) {
	for {
		c := 2*p.at + 1
		if c >= len(h.heap) {
			return
		}
		if c+1 < len(h.heap) && h.heap[c+1].self < h.heap[c].self {
			c++
		}
		if h.heap[c].self >= p.self {
			return
		}
		h.swap(p, h.heap[c])
	}
}

func (h *heavy) Flush(out *Out, last bool) {
	if !last {
		return
	}
	list := slices.SortedFunc(maps.Values(h.paths), func(a, b *path) int {
		return cmp.Or(cmp.Compare(b.self, a.self), slices.Compare(a.points, b.points))
	})
	for i, p := range list {
		Emit(out, heavyPath, HeavyPath{uint32(i + 1), p.points, p.n, out.Ns(p.self), out.Ns(p.excess)})
	}
}
