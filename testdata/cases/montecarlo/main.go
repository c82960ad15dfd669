// Command montecarlo prices a basket of options by simulation.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

// sampler draws normal variates.
type sampler struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newSampler(seed int64) *sampler {
	return &sampler{rng: rand.New(rand.NewSource(seed))}
}

func (s *sampler) normal() float64 {
	s.mu.Lock()
	v := s.rng.NormFloat64()
	s.mu.Unlock()
	return v
}

type option struct {
	spot, strike, vol, rate, years float64
}

// closedForm is the Black-Scholes price of a European call.
func (o option) closedForm() float64 {
	sd := o.vol * math.Sqrt(o.years)
	d1 := (math.Log(o.spot/o.strike) + (o.rate+o.vol*o.vol/2)*o.years) / sd
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	return o.spot*cdf(d1) - o.strike*math.Exp(-o.rate*o.years)*cdf(d1-sd)
}

// path simulates one price path with the given number of steps.
func (o option) path(s *sampler, steps int) float64 {
	dt := o.years / float64(steps)
	drift := (o.rate - o.vol*o.vol/2) * dt
	diffusion := o.vol * math.Sqrt(dt)
	p := o.spot
	for i := 0; i < steps; i++ {
		local := 1 + 0.1*math.Tanh(math.Log(p/o.spot))
		p *= math.Exp(drift + diffusion*local*s.normal())
	}
	return math.Max(p-o.strike, 0)
}

type engine struct {
	shared  *sampler
	workers int
	steps   int

	mu      sync.Mutex
	batches int
}

func (e *engine) sampler(worker int) *sampler {
	if *revised {
		return newSampler(int64(worker)*7919 + 1)
	}
	return e.shared
}

func (e *engine) finished() {
	e.mu.Lock()
	e.batches++
	e.mu.Unlock()
}

func (e *engine) price(o option, paths int) float64 {
	sums := make([]float64, e.workers)
	var wg sync.WaitGroup
	for w := 0; w < e.workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := e.sampler(w)
			var sum float64
			for i := w; i < paths; i += e.workers {
				sum += o.path(s, e.steps)
				if i%500 == 0 {
					e.finished()
				}
			}
			sums[w] = sum
		}()
	}
	wg.Wait()
	var total float64
	for _, s := range sums {
		total += s
	}
	return math.Exp(-o.rate*o.years) * total / float64(paths)
}

func main() {
	flag.Parse()
	start := time.Now()
	e := &engine{shared: newSampler(42), workers: 4, steps: 32}
	basket := []option{
		{spot: 100, strike: 105, vol: 0.20, rate: 0.02, years: 1},
		{spot: 80, strike: 75, vol: 0.30, rate: 0.02, years: 0.5},
		{spot: 120, strike: 130, vol: 0.25, rate: 0.03, years: 2},
	}
	converged := 0
	for _, o := range basket {
		price := e.price(o, 90000)
		if math.Abs(price-o.closedForm()) < 1.5 {
			converged++
		}
	}
	fmt.Println("options", len(basket), "converged", converged, "batches", e.batches)
	fmt.Println("truth run", time.Since(start))
}
