package ratecontrol_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/ratecontrol"
)

const window = 50e6 // ns

// load is how many hits come in a window: the rate, in hits/s, at a time in seconds.
type load func(t float64) float64

// poisson draws a number of hits of a mean.
func poisson(r *rand.Rand, mean float64) float64 {
	if mean > 50 {
		return max(0, math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))
	}
	n, p := 0.0, math.Exp(-mean)
	for x := r.Float64(); x > p; x *= r.Float64() {
		n++
	}
	return n
}

// sim is one point under a load.
type sim struct {
	point   ratecontrol.Point
	limit   ratecontrol.Limit
	traced  bool
	room    float64
	hits    float64 // all
	events  float64 // traced
	changes int
}

func newSim(l ratecontrol.Limit) *sim {
	s := &sim{limit: l}
	s.traced, s.room = s.point.Step(l, window, 0)
	return s
}

// step is a window with n hits: of those beyond its room none is traced.
func (s *sim) step(hits float64) (events float64) {
	if s.traced {
		events = min(hits, s.room)
	}
	s.hits += hits
	s.events += events
	before := s.traced
	if s.traced, s.room = s.point.Step(s.limit, window, hits); s.traced != before {
		s.changes++
	}
	return events
}

// A rate within a tenth of its threshold changes the level once in ten windows at
// most, whatever its chances.
func TestHysteresis(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{20, 200, 1e4, 1e6} {
		for _, share := range []float64{0.9, 0.95, 0.99, 1, 1.01, 1.05, 1.1} {
			for _, random := range []bool{false, true} {
				r := rand.New(rand.NewPCG(1, 2))
				s := newSim(ratecontrol.Limit{Rate: rate, Burst: rate / 10})
				const windows = 2000
				for i := range windows {
					n := math.Floor(share*rate*window/1e9*float64(i+1)) - math.Floor(share*rate*window/1e9*float64(i))
					if random {
						n = poisson(r, share*rate*window/1e9)
					}
					s.step(n)
				}
				if s.changes > windows/10 {
					t.Errorf("rate %v of %v, random %v: %d changes in %d windows", share, rate, random, s.changes,
						windows)
				}
				if !random && share < 1 && s.events != s.hits {
					t.Errorf("rate %v of %v: %v of %v traced", share, rate, s.events, s.hits)
				}
			}
		}
	}
}

// A burst is cut off in its first window and over in the next one.
func TestBurst(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1e3, 1e4, 1e6} {
		s := newSim(ratecontrol.Limit{Rate: rate, Burst: rate / 10})
		for range 40 {
			s.step(rate * window / 1e9 / 2)
		}
		if s.changes != 0 || s.events != s.hits {
			t.Fatalf("half the rate: %d changes, %v of %v traced", s.changes, s.events, s.hits)
		}
		before := s.events
		for range 40 {
			s.step(20 * rate * window / 1e9)
		}
		if most := rate/10 + 2*rate*window/1e9; s.events-before > most {
			t.Errorf("burst at rate %v: %v traced, expected %v at most", rate, s.events-before, most)
		}
		if s.traced {
			t.Errorf("traced at 20 times the rate")
		}
		s.step(rate * window / 1e9 / 2)
		if !s.traced || s.changes != 2 {
			t.Errorf("rate %v: traced %v a window behind the burst, %d changes", rate, s.traced, s.changes)
		}
	}
}

// Whatever comes, no more is traced than the rate allows, a bucket with each change,
// and one window's flow that is given ahead.
func TestRateHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(1, 1e6).Draw(t, "rate")
		l := ratecontrol.Limit{Rate: rate, Burst: rapid.Float64Range(0, rate).Draw(t, "burst")}
		s := newSim(l)
		loads := rapid.SliceOfN(rapid.Float64Range(0, 10*rate*window/1e9), 1, 100).Draw(t, "hits")
		var events []float64
		for _, n := range loads {
			events = append(events, s.step(math.Floor(n)))
		}
		for from := range events {
			sum, rounds := 0.0, 0.0
			for i, n := range events[from:] {
				sum += n
				if i > 0 && n > 0 && events[from+i-1] == 0 {
					rounds++
				}
				if most := rate*window/1e9*float64(i+2) + l.Burst*(rounds+1); sum > most+1e-6 {
					t.Fatalf("%v traced in %d windows, expected %v at most", sum, i+1, most)
				}
			}
		}
	})
}

// A program of several points under a budget.
type program struct {
	name  string
	loads []load
	cost  []float64 // ns of a traced hit
}

const countCost = 1.2 // ns

// run simulates a program that uses two processors and returns the tool's share over
// all, and the largest over any second after the first.
func (p *program) run(target float64, seconds int, seed uint64) (share, worst float64, changes int) {
	r := rand.New(rand.NewPCG(seed, 7))
	b := ratecontrol.Budget{Target: target}
	sims := make([]*sim, len(p.loads))
	for i := range sims {
		sims[i] = newSim(ratecontrol.Limit{Rate: ratecontrol.Any})
		sims[i].room = 64 // what a cell has before anybody looks
	}
	const work = 2 * window // of the program itself
	var spents []float64
	tokens := math.Inf(1) // ns of events that threads may record before anybody looks again
	for w := range seconds * 1e9 / window {
		var costs []float64
		counting, events := 0.0, 0.0
		for i, s := range sims {
			hits := poisson(r, p.loads[i](float64(w)*window/1e9)*window/1e9)
			counting += countCost * hits
			events += p.cost[i] * s.step(hits)
			costs = append(costs, p.cost[i]*hits)
		}
		spent := counting + min(events, tokens)
		spents = append(spents, spent)
		allowed := b.Step(work+spent, spent, window)
		tokens = max(0, allowed-counting)
		most := ratecontrol.Share(costs, tokens)
		for i, s := range sims {
			rate := ratecontrol.Any + 0.0
			if most < ratecontrol.Any {
				rate = most / p.cost[i] * 1e9 / window
			}
			s.limit = ratecontrol.Limit{Rate: rate, Burst: rate / 20}
		}
	}
	perSecond := int(1e9 / window)
	for i := range spents {
		sum := 0.0
		for _, x := range spents[i:min(len(spents), i+perSecond)] {
			sum += x
		}
		if i >= perSecond && i+perSecond <= len(spents) {
			worst = max(worst, sum/(sum+work*float64(perSecond)))
		}
		if i == 0 {
			for _, x := range spents {
				share += x
			}
			share /= share + work*float64(len(spents))
		}
	}
	for _, s := range sims {
		changes += s.changes
	}
	return share, worst, changes
}

func constant(rate float64) load { return func(float64) float64 { return rate } }

func bursty(rate, period, on float64) load {
	return func(t float64) float64 {
		if math.Mod(t, period) < on {
			return rate
		}
		return rate / 100
	}
}

func programs() []program {
	hot := program{name: "one hot function", loads: []load{constant(3e7), constant(1e4), constant(2e3)},
		cost: []float64{40, 40, 40}}
	many := program{name: "many of all rates"}
	for i := range 200 {
		many.loads = append(many.loads, constant(10*math.Pow(1.08, float64(i))))
		many.cost = append(many.cost, 40)
	}
	waves := program{name: "bursts"}
	for i := range 20 {
		waves.loads = append(waves.loads, bursty(2e6, 0.7+0.31*float64(i), 0.2+0.05*float64(i)))
		waves.cost = append(waves.cost, 45)
	}
	together := program{name: "all at once", loads: nil}
	for range 30 {
		together.loads = append(together.loads, bursty(3e5, 3, 0.4))
		together.cost = append(together.cost, 40)
	}
	heavy := program{name: "heavy tails"}
	r := rand.New(rand.NewPCG(5, 5))
	for range 30 {
		at := make([]float64, 400)
		for k := range at {
			at[k] = min(1e4/math.Pow(r.Float64(), 1.2), 3e6)
		}
		heavy.loads = append(heavy.loads, func(t float64) float64 { return at[int(t*10)%len(at)] })
		heavy.cost = append(heavy.cost, 40)
	}
	turns := program{name: "against the window"}
	for i := range 10 {
		turns.loads = append(turns.loads, bursty(5e6, 0.1, 0.05+0.001*float64(i)))
		turns.cost = append(turns.cost, 40)
	}
	return []program{hot, many, waves, together, heavy, turns}
}

// The budget is kept: over all within a fifth, and over any second after the first within a point
// of a hundred, above the cost of counting.
func TestBudget(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		for _, target := range []float64{0.01, 0.02, 0.05, 0.1} {
			share, worst, changes := p.run(target, 20, 1)
			floor := p.countingFloor()
			t.Logf("%-20s target %.3f: %.4f, worst second %.4f, counting %.4f, %d changes", p.name, target, share,
				worst, floor, changes)
			if share > 1.2*max(target, floor) {
				t.Errorf("%s, target %v: %v", p.name, target, share)
			}
			if worst > max(target, p.worstFloor())+0.01 {
				t.Errorf("%s, target %v: %v in a second", p.name, target, worst)
			}
		}
	}
}

// countingFloor is the share of counting every hit, worstFloor that of the worst
// second.
func (p *program) countingFloor() float64 {
	sum := 0.0
	for t := 0.0; t < 20; t += 0.05 {
		for _, l := range p.loads {
			sum += l(t) * 0.05 * countCost
		}
	}
	return sum / (sum + 20*2e9)
}

func (p *program) worstFloor() (worst float64) {
	for from := 0.0; from < 19; from += 0.05 {
		sum := 0.0
		for t := from; t < from+1; t += 0.05 {
			for _, l := range p.loads {
				sum += l(t) * 0.05 * countCost
			}
		}
		worst = max(worst, sum/(sum+2e9))
	}
	return worst
}

// Those that cost least are traced, and all together are within what is allowed.
func TestShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOf(rapid.Float64Range(0, 1e6)).Draw(t, "costs")
		allowed := rapid.Float64Range(0, 1e7).Draw(t, "allowed")
		sorted := slices.Sorted(slices.Values(costs))
		most := ratecontrol.Share(costs, allowed)
		if !slices.Equal(costs, sorted) {
			t.Fatalf("not sorted: %v", costs)
		}
		sum, all := 0.0, 0.0
		for _, c := range costs {
			all += c
			if c < most {
				sum += c
			}
		}
		if sum > allowed || all <= allowed && len(costs) > 0 && most < sorted[len(sorted)-1] {
			t.Fatalf("most %v: %v of %v allowed, all %v", most, sum, allowed, all)
		}
	})
}

func TestParseLimit(t *testing.T) {
	t.Parallel()
	rate := func(rate, burst float64, below ratecontrol.Level) ratecontrol.Limit {
		return ratecontrol.Limit{Rate: rate, Burst: burst, Below: below}
	}
	delay := func(ns float64) ratecontrol.Limit {
		return ratecontrol.Limit{Rate: ratecontrol.Any, Below: ratecontrol.Time, Delays: true, Delay: ns}
	}
	for text, want := range map[string]struct {
		l    ratecontrol.Limit
		most ratecontrol.Level
	}{
		"off":         {rate(ratecontrol.Any, 0, ratecontrol.Time), ratecontrol.Off},
		"1e4/s":       {rate(1e4, 1e3, ratecontrol.Time), ratecontrol.Trace},
		"1e4/s+500":   {rate(1e4, 500, ratecontrol.Time), ratecontrol.Trace},
		"1e4/s:count": {rate(1e4, 1e3, ratecontrol.Count), ratecontrol.Trace},
		"+5us":        {delay(5000), ratecontrol.Count},
		"+0ns":        {delay(0), ratecontrol.Count},
		"+2.5ms":      {delay(2.5e6), ratecontrol.Count},
		"+1e3ns":      {delay(1000), ratecontrol.Count},
		"+60s":        {delay(60e9), ratecontrol.Count},
	} {
		if l, most, ok := ratecontrol.ParseLimit(text); !ok || l != want.l || most != want.most {
			t.Errorf("%s: found %+v, %v, %v, expected %+v", text, l, most, ok, want)
		}
	}
	for _, text := range []string{"", "+", "+5", "+us", "5us", "+5 us", "+5us:count", "+-5us", "+61s", "+5us/s", "1e4",
		"1e4/s:trace", "loud"} {
		if l, _, ok := ratecontrol.ParseLimit(text); ok {
			t.Errorf("%s is understood as %+v", text, l)
		}
	}
}
