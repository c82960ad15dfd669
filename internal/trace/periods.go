package trace

import (
	"math"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// mostPeriods is how many parts the traced time has at most, so that a long run takes no more
// memory than a short one.
const mostPeriods = 256

// ofRecord is how many of them there are for each record, at most, since records begin and end
// where periods do not.
const ofRecord = 4

// Periods are equal parts of the traced time, and how often points were reached in each without an
// event, as far as the file tells.
type Periods struct {
	N    int // 0: it does not
	Wall Time
	Hits map[PointID][]float64
}

// rawSums is a "sums" record, in ticks.
type rawSums struct {
	from, to uint64
	hits     sddf.Blob
}

// place is where a time is, in periods from the first one's beginning.
func (p *Periods) place(t Time) float64 {
	return min(max(float64(t)/float64(p.Wall), 0), 1) * float64(p.N)
}

// Spread adds an amount to those periods in which a stretch of time is, to each its share.
func (p *Periods) Spread(list []float64, from, to Time, amount float64) {
	a, b := p.place(from), p.place(to)
	first, last := min(int(a), p.N-1), min(int(b), p.N-1)
	if first == last {
		list[first] += amount
		return
	}
	for i := first; i <= last; i++ {
		list[i] += amount * (min(b, float64(i+1)) - max(a, float64(i))) / (b - a)
	}
}

// Between is how much of what was added by periods lies between two times, where upTo[i] is all
// before the i-th period.
func (p *Periods) Between(upTo []float64, from, to Time) float64 {
	at := func(t Time) float64 {
		whole, part := math.Modf(p.place(t))
		i := int(whole)
		if i >= p.N {
			return upTo[p.N]
		}
		return upTo[i] + part*(upTo[i+1]-upTo[i])
	}
	return at(to) - at(from)
}

// periods adds up what points counted in each part of the traced time.
func (ix *indexer) periods() {
	t := ix.t
	p := Periods{N: min(ofRecord*len(ix.sums), mostPeriods), Wall: t.wall, Hits: map[PointID][]float64{}}
	if len(ix.sums) < 2 || p.Wall <= 0 {
		return
	}
	for _, r := range ix.sums {
		from, to := t.clock.ns(max(r.from, ix.span.first)), t.clock.ns(r.to)
		t.entries(&spec.Sums, r.hits, func(v []uint64) {
			point := v[0]
			if point >= uint64(len(t.Points)) {
				t.losses.UnknownPoint++
				return
			}
			id := PointID(point)
			if p.Hits[id] == nil {
				p.Hits[id] = make([]float64, p.N)
			}
			p.Spread(p.Hits[id], from, max(from, to), float64(v[2]))
		})
	}
	t.Periods = p
}
