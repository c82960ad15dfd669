// Command ensemble advances the members of a weather ensemble.
package main

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

// member is one independent run of the model.
type member struct {
	id    int
	rng   uint64
	field [96]float64
	sub   int
}

func newMember(id int) *member {
	m := &member{id: id, rng: uint64(id)*2654435761 + 12345}
	for i := range m.field {
		m.field[i] = math.Sin(float64(i*id+1) / 7)
	}
	return m
}

func (m *member) roll() uint64 {
	m.rng ^= m.rng << 13
	m.rng ^= m.rng >> 7
	m.rng ^= m.rng << 17
	return m.rng
}

func (m *member) relax() {
	n := len(m.field)
	prev := m.field[n-1]
	for i := range m.field {
		next := m.field[(i+1)%n]
		cur := m.field[i]
		m.field[i] = cur + 0.1*(prev-2*cur+next) + 1e-4*math.Sin(cur)
		prev = cur
	}
	m.sub++
}

// step advances one time step; steep gradients need a finer substep.
func (m *member) step() {
	n := 3
	switch r := m.roll() % 16; {
	case r == 0:
		n = 90
	case r < 4:
		n = 25
	}
	for i := 0; i < n; i++ {
		m.relax()
	}
}

func (m *member) energy() float64 {
	var e float64
	for _, v := range m.field {
		e += v * v
	}
	return e
}

// clock shows how far the ensemble has come.
type clock struct {
	mu    sync.Mutex
	steps int
}

func (c *clock) advance(n int) {
	c.mu.Lock()
	c.steps += n
	c.mu.Unlock()
}

type ensemble struct {
	groups [][]*member
	clock  clock
}

func newEnsemble(members, groups int) *ensemble {
	e := &ensemble{groups: make([][]*member, groups)}
	for i := 0; i < members; i++ {
		e.groups[i%groups] = append(e.groups[i%groups], newMember(i))
	}
	return e
}

func (e *ensemble) advance(group []*member, steps int) {
	for s := 0; s < steps; s++ {
		for _, m := range group {
			m.step()
		}
	}
	e.clock.advance(steps * len(group))
}

func (e *ensemble) parallel(steps int) {
	var wg sync.WaitGroup
	for _, g := range e.groups {
		wg.Add(1)
		go func() {
			defer wg.Done()
			e.advance(g, steps)
		}()
	}
	wg.Wait()
}

func (e *ensemble) run(steps int) {
	if *revised {
		e.parallel(steps)
		return
	}
	for s := 0; s < steps; s++ {
		e.parallel(1)
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	e := newEnsemble(8, runtime.GOMAXPROCS(0))
	e.run(9000)
	var energy float64
	sub := 0
	for i := 0; i < 8; i++ {
		m := e.groups[i%len(e.groups)][i/len(e.groups)]
		energy += m.energy()
		sub += m.sub
	}
	fmt.Printf("steps %d substeps %d energy %.6f\n", e.clock.steps, sub, energy)
	fmt.Println("truth run", time.Since(start))
}
