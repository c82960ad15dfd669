package steps

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Procedures whose calls were only counted have no events: their work is in their callers' contexts. It is divided among the procedures in which
// samples found it, as in profiles. A context with few samples uses those of all contexts of the same goroutines in the same procedure.

// enough is how many samples of its own a context needs.
const enough = 16

// Share is what one procedure does of the work in a context.
type Share struct {
	Share float64
	Proc  trace.PointID   // that does it, NoPoint: none
	In    []trace.PointID // procedures on whose behalf, Proc too
	Loops []trace.PointID // loops that it is in, besides those of the context
	N     int             // samples by which the work is divided, 0: it is not, and all of it is Proc's
}

// samples are what was found of the work in a context, or in a stratum.
type samples struct {
	n      int
	weight float64
	found  map[beyond]float64
}

// stratum are contexts of one kind of goroutines in one procedure.
type stratum struct {
	group replay.GroupID
	proc  trace.PointID
}

// beyond is what samples found behind a context: the innermost procedure, and the procedures and loops between.
type beyond struct {
	top trace.PointID // NoPoint: the context's own
	in  string        // numbers of four bytes, so that this is a key
}

// shares divides work.
type shares struct {
	contexts map[replay.ContextID]*samples
	strata   map[stratum]*samples
	dealt    [][]Share // by context
}

// Sample notes where a sampler found a goroutine that works.
func (b *builder) Sample(g *replay.G, s trace.Sampled) {
	if g == nil || !g.Busy() || b.virtual > 0 {
		return
	}
	if b.whole {
		b.p.seen.Add(s, b.r.IsProbe(s))
		return
	}
	to, probe := b.r.Found(g, s)
	if probe {
		to = b.r.Outside(b.r.System.Probes, replay.RootTool, b.r.Contexts.Node(g.Context).Group)
	}
	d, node := &b.p.shares, b.r.Contexts.Node(g.Context)
	if d.contexts == nil {
		d.contexts, d.strata = map[replay.ContextID]*samples{}, map[stratum]*samples{}
	}
	found := b.p.behind(g.Context, to)
	note(d.contexts, g.Context, found, float64(max(s.Gap, 1)))
	note(d.strata, stratum{node.Group, node.Proc}, found, float64(max(s.Gap, 1)))
}

func note[K comparable](all map[K]*samples, key K, found beyond, weight float64) {
	s := all[key]
	if s == nil {
		s = &samples{found: map[beyond]float64{}}
		all[key] = s
	}
	s.n, s.weight = s.n+1, s.weight+weight
	s.found[found] += weight
}

// SampledProbes is how many samples found probes.
func (p *Program) SampledProbes() (n int) {
	for _, s := range p.shares.contexts {
		for k, weight := range s.found {
			if k.top == p.R.System.Probes {
				n += int(math.Round(float64(s.n) * weight / s.weight))
			}
		}
	}
	return n
}

// behind is what a sample found beyond a context.
func (p *Program) behind(c, to replay.ContextID) beyond {
	if c == to {
		return beyond{top: trace.NoPoint}
	}
	r := p.R
	own := r.Contexts.Node(c).Set
	k := beyond{top: r.Contexts.Node(to).Proc}
	for set := r.Contexts.Node(to).Set; set != 0; set = r.Sets.Parent(set) {
		if m := r.Sets.Last(set); (p.isProc(m.Point()) || p.isLoop(m.Point())) && !r.Sets.Has(own, m) {
			at := m.Point()
			k.in += string([]byte{byte(at), byte(at >> 8), byte(at >> 16), byte(at >> 24)})
		}
	}
	if k.in == "" && k.top == r.Contexts.Node(c).Proc {
		k.top = trace.NoPoint
	}
	return k
}

func (p *Program) isProc(at trace.PointID) bool { return p.isKind(at, spec.PointProc) }
func (p *Program) isLoop(at trace.PointID) bool { return p.isKind(at, spec.PointLoop) }

func (p *Program) isKind(at trace.PointID, kind string) bool {
	return at >= 0 && int(at) < len(p.R.T.Points) && p.R.T.Points[at].Kind == kind
}

// Shares returns who does the work in a context.
func (p *Program) Shares(c replay.ContextID) []Share {
	d := &p.shares
	for int(c) >= len(d.dealt) {
		d.dealt = append(d.dealt, nil)
	}
	if d.dealt[c] == nil {
		d.dealt[c] = p.deal(c)
	}
	return d.dealt[c]
}

// Prices are what events cost.
func (p *Program) Prices() price.Prices {
	work := int64(0)
	for _, ns := range p.work {
		work += ns
	}
	prices := price.Of(p.R.T)
	prices.Mend(&p.seen, float64(work), p.R.Entries, p.R.Operations, p.R.Changes)
	return prices
}

// mostProbes is the share of a context's work that probes take at most.
const mostProbes = 0.95

// probed takes out of a context's work what its events cost: half of that falls to each side of an enter or exit. Samples would tell of probes themselves.
func (p *Program) probed(c replay.ContextID, whole Share) []Share {
	if int(c) >= len(p.work) || p.work[c] == 0 {
		return []Share{whole}
	}
	f := min(float64(p.R.Contexts.Node(c).Half)/2*p.event/float64(p.work[c]), mostProbes)
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
	s := p.shares.contexts[c]
	if s == nil || s.n < enough {
		s = p.shares.strata[stratum{node.Group, node.Proc}]
	}
	if s == nil {
		return p.probed(c, whole)
	}
	keys := slices.SortedFunc(maps.Keys(s.found), func(x, y beyond) int { return cmp.Or(cmp.Compare(x.top, y.top), cmp.Compare(x.in, y.in)) })
	for _, k := range keys {
		x := whole
		x.Share, x.N = s.found[k]/s.weight, s.n
		switch k.top {
		case trace.NoPoint:
		case p.R.System.Probes:
			x.Proc, x.In = k.top, []trace.PointID{k.top}
		default:
			x.Proc, x.In = k.top, slices.Clone(whole.In)
			for in := k.in; len(in) >= 4; in = in[4:] {
				at := trace.PointID(in[0]) | trace.PointID(in[1])<<8 | trace.PointID(in[2])<<16 | trace.PointID(in[3])<<24
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
