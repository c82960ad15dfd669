package steps

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// enough is how many samples of its own a context needs.
const enough = 16

// SampledProbes is how many samples found probes.
func (p *Program) SampledProbes() (n int) {
	for _, s := range p.contexts {
		for k, weight := range s.in {
			if k.top == p.R.System.Probes {
				n += int(math.Round(float64(s.n) * weight / s.weight))
			}
		}
	}
	return n
}

// beyond is the position of a sample beyond a context.
func (p *Program) beyond(c, to replay.ContextID) beyond {
	if c == to {
		return beyond{top: trace.NoPoint}
	}
	r := p.R
	own := r.Contexts.Node(c).Set
	k := beyond{top: r.Contexts.Node(to).Proc}
	for set := r.Contexts.Node(to).Set; set != 0; set = r.Sets.Parent(set) {
		if m := r.Sets.Last(set); (p.isProc(m.Point()) || p.isLoop(m.Point())) && !r.Sets.Has(own, m) {
			at := m.Point()
			k.in += string(binary.LittleEndian.AppendUint32(nil, uint32(at)))
		}
	}
	if k.in == "" && k.top == r.Contexts.Node(c).Proc {
		k.top = trace.NoPoint
	}
	return k
}

// Shares returns who does the work in a context.
func (p *Program) Shares(c replay.ContextID) []Share {
	if int(c) < len(p.dealt) {
		return p.dealt[c]
	}
	return p.deal(c)
}

// dealAll divides the work of all contexts, so that several may ask for it at once.
func (p *Program) dealAll() {
	for c := range replay.ContextID(p.R.Contexts.Len()) {
		if int(c) == len(p.dealt) {
			p.dealt = append(p.dealt, nil)
		}
		if p.dealt[c] == nil {
			p.dealt[c] = p.deal(c)
		}
	}
}

// Prices are what events cost.
func (p *Program) Prices() price.Prices {
	work := int64(0)
	for _, ns := range p.spent {
		work += ns
	}
	prices := price.Of(p.R.T)
	prices.Mend(&p.seen, float64(work), p.R.Entries, p.R.Operations, p.R.Changes+2*p.R.Yields)
	return prices
}

// mostProbes is the share of a context's work that probes take at most.
const mostProbes = 0.95

// probed subtracts the cost of its events from a context's work: half of that falls to each side of
// an enter or exit. It is for contexts without samples, which find probes by themselves.
func (p *Program) probed(c replay.ContextID, whole Share) []Share {
	if int(c) >= len(p.spent) || p.spent[c] == 0 {
		return []Share{whole}
	}
	f := min(float64(p.R.Contexts.Node(c).Half)/2*p.event/float64(p.spent[c]), mostProbes)
	if f == 0 {
		return []Share{whole}
	}
	whole.Share = 1 - f
	return []Share{whole, {Share: f, Proc: p.R.System.Probes, In: []trace.PointID{p.R.System.Probes}}}
}

func (p *Program) deal(c replay.ContextID) (list []Share) {
	node := p.R.Contexts.Node(c)
	whole := Share{Share: 1, Proc: node.Proc}
	for set := node.Set; set != 0; set = p.R.Sets.Parent(set) {
		if at := p.R.Sets.Last(set).Point(); p.isProc(at) {
			whole.In = append(whole.In, at)
		}
	}
	if len(whole.In) == 0 && node.Proc != trace.NoPoint {
		whole.In = append(whole.In, node.Proc)
	}
	s := p.contexts[c]
	if s == nil || s.n < enough {
		s = p.strata[stratum{node.Group, node.Proc}]
	}
	if s == nil {
		return p.probed(c, whole)
	}
	if s.number == 0 {
		p.numbers++
		s.number = p.numbers
	}
	keys := slices.SortedFunc(maps.Keys(s.in), func(x,
		y beyond) int {
		return cmp.Or(cmp.Compare(x.top, y.top), cmp.Compare(x.in, y.in))
	})
	for _, k := range keys {
		x := whole
		x.Share, x.N, x.Looks, x.By = s.in[k]/s.weight, s.n, s.looks, s.number
		switch k.top {
		case trace.NoPoint:
		case p.R.System.Probes:
			x.Proc, x.In = k.top, []trace.PointID{k.top}
		default:
			x.Proc, x.In = k.top, slices.Clone(whole.In)
			for in := k.in; len(in) >= 4; in = in[4:] {
				at := trace.PointID(binary.LittleEndian.Uint32([]byte(in)))
				switch {
				case p.R.Sets.Has(node.Set, replay.ProcMember(at)): // of another context of the stratum they were not
				case p.isProc(at):
					x.In = append(x.In, at)
				default:
					x.Loops = append(x.Loops, at)
				}
			}
		}
		list = append(list, x)
	}
	return list
}
