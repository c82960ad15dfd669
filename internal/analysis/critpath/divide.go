package critpath

import (
	"maps"
	"math"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
)

// portions are those of a context.
func (b *builder) portions(c replay.ContextID) []portion {
	for int(c) >= len(b.dealt) {
		b.dealt = append(b.dealt, nil)
	}
	if b.dealt[c] == nil {
		for _, s := range b.p.Shares(c) {
			b.dealt[c] = append(b.dealt[c], b.portion(s))
		}
		b.tell(c, b.dealt[c])
	}
	return b.dealt[c]
}

func (b *builder) portion(s steps.Share) portion {
	p := portion{share: s.Share, n: s.N, self: b.entry(line{KindProc, int64(s.Proc)})}
	for _, at := range s.In {
		p.in = append(p.in, b.entry(line{KindProc, int64(at)}))
	}
	if len(p.in) == 0 {
		p.in = append(p.in, p.self)
	}
	for _, at := range s.Loops {
		p.loops = append(p.loops, b.entry(line{KindLoop, int64(at)}))
	}
	return p
}

// tell notes the samples of a context, unless all of them found its own procedure.
func (b *builder) tell(c replay.ContextID, portions []portion) {
	told, own := map[int]float64{}, b.entry(line{KindProc, int64(b.r.Contexts.Node(c).Proc)})
	for k := range portions {
		p := &portions[k]
		if p.told = told; p.n == 0 || p.self == own && len(portions) == 1 && len(p.loops) == 0 {
			continue
		}
		told[p.self] += p.share
		told[own] += 0 // it was not found there, or is there as well
		for _, i := range p.loops {
			told[i] += p.share
		}
	}
	for i := range told {
		b.sums[i].guessed = true
	}
}

// doubt notes it.
func (b *builder) doubt(c replay.ContextID, i int, p *portion, ns float64) {
	share, ok := p.told[i]
	if !ok {
		return
	}
	s := &b.sums[i]
	if s.doubt == nil {
		s.doubt = map[replay.ContextID]dealt{}
	}
	s.doubt[c] = dealt{s.doubt[c].ns + ns, share, p.n}
}

// interval is how far an entry's self time may be off: 95 of 100 times.
func (b *builder) interval(i int) float64 {
	v := 0.
	for _, c := range slices.Sorted(maps.Keys(b.sums[i].doubt)) { // sums depend on the order
		d := b.sums[i].doubt[c]
		// A share of all samples, or of none, is not certain either.
		n := float64(d.n)
		p := (min(d.share, 1)*n + 1) / (n + 2)
		whole := d.ns / d.share
		v += whole * whole * p * (1 - p) / n
	}
	return 1.96 * math.Sqrt(v)
}
