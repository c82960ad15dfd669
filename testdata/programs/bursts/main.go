// Command bursts calls some sixty points so often that their probes are too dear for the default
// budget. How often each is reached depends on numbers that look random, on where the program
// is, and on which goroutine it is: then ratios to the entries of their procedures differ from one
// time to the next. It makes the same calls in every run.
package main

import (
	"fmt"
	"os"
	"sync"
)

// random is a generator of numbers, one of each goroutine.
type random uint32

func (r *random) next() uint32 {
	*r ^= *r << 13
	*r ^= *r >> 17
	*r ^= *r << 5
	return uint32(*r)
}

// shape is a procedure with a loop, calls on some of its paths, and one whose callee is known at
// run time only.
type shape interface {
	run(r *random, depth int) uint32
}

type (
	even  struct{ work uint32 }
	odd   struct{ work uint32 }
	heavy struct{ work uint32 }
	tree  struct{ work uint32 }
)

//go:noinline
func leaf(x uint32) uint32 {
	for range x % 7 {
		x = x*1664525 + 1013904223
	}
	return x
}

//go:noinline
func twig(x uint32) uint32 {
	if x%3 == 0 {
		return leaf(x)
	}
	return leaf(x+1) + leaf(x+2)
}

// picks is how often second calls pick.
var picks int

// pick is small. It is called seldom, but if the program has an argument so often that the counters in it are
// too dear.
//
//go:noinline
func pick(x uint32) uint32 {
	if x%3 == 0 {
		return dot(x)
	}
	return dot(x+1) + dot(x+2)
}

//go:noinline
func dot(x uint32) uint32 { return x*1664525 + 1013904223 }

//go:noinline
func (s even) run(r *random, _ int) (sum uint32) {
	x := r.next()
	for range x % s.work {
		sum += leaf(x)
	}
	if x%4 == 0 {
		sum += twig(x)
	} else {
		sum ^= leaf(x)
	}
	return sum
}

//go:noinline
func (s odd) run(r *random, _ int) (sum uint32) {
	x := r.next()
	switch x % 5 {
	case 0:
		sum = leaf(x)
	case 1:
		sum = twig(x)
	case 2:
		for range 3 {
			sum += leaf(x)
		}
	default:
		sum = leaf(x) + twig(x)
	}
	return sum
}

//go:noinline
func (s heavy) run(r *random, _ int) (sum uint32) {
	x := r.next()
	if x%200 != 0 {
		return leaf(x)
	}
	for range 50 * s.work {
		sum += twig(x)
	}
	return sum
}

//go:noinline
func (s tree) run(r *random, depth int) (sum uint32) {
	if depth == 0 {
		return leaf(r.next())
	}
	for range r.next() % 3 {
		sum += s.run(r, depth-1)
	}
	return sum + twig(r.next())
}

//go:noinline
func first(r *random, shapes []shape, phase uint32) (sum uint32) {
	for _, s := range shapes {
		sum += s.run(r, 4)
	}
	if phase%2 == 0 {
		sum += leaf(sum)
	}
	return sum
}

//go:noinline
func second(r *random, shapes []shape, phase uint32) (sum uint32) {
	if picks > 0 || *r%4096 == 0 {
		sum ^= pick(sum)
	}
	for range picks {
		sum ^= pick(sum)
	}
	for range 1 + phase {
		sum += shapes[r.next()%uint32(len(shapes))].run(r, 2)
	}
	return sum
}

// tally has operations on a lock. They are as frequent as their procedure, and too frequent to be
// traced.
type tally struct {
	mu  sync.Mutex
	sum uint32
}

//go:noinline
func (t *tally) add(x uint32) {
	t.mu.Lock()
	for range 1 + x%3 {
		t.sum += leaf(x)
	}
	t.mu.Unlock()
}

// seldom has operations that are rare. All of them are traced, whatever their procedure costs.
type seldom struct {
	mu  sync.Mutex
	sum uint32
}

//go:noinline
func (s *seldom) add(x uint32) {
	if x%(1<<14) == 0 {
		s.mu.Lock()
		s.sum++
		s.mu.Unlock()
	}
	for range 1 + x%3 {
		s.sum += leaf(x)
	}
}

func work(seed uint32) (sum uint32) {
	r := random(seed)
	var t tally
	var s seldom
	shapes := []shape{even{5}, odd{2}, heavy{2}, tree{1}}
	for phase := range uint32(6) {
		for range 800_000 / (1 + phase) {
			sum += first(&r, shapes, phase)
			sum += second(&r, shapes, phase)
			t.add(sum)
			s.add(sum)
		}
	}
	return sum + t.sum + s.sum
}

// turns is one activation that lasts, in whose loops nearly all calls are: the iterations of the
// outer loop are long in the first half, and short in the second one.
func turns(seed uint32) (sum uint32) {
	r := random(seed)
	shapes := []shape{even{3}, odd{2}, odd{1}}
	for phase := range uint32(800_000) {
		n := uint32(3)
		if phase < 2 {
			n = 1_000_000
		}
		for i := range n {
			if r.next()%3 == 0 {
				sum += leaf(sum)
			}
			if i%4 == 1 {
				continue
			}
			for range r.next() % 4 {
				sum += leaf(i)
			}
			sum += shapes[i%3].run(&r, 1)
		}
		if sum%1000 == 1 {
			sum += twig(sum)
		}
	}
	return sum
}

func main() {
	if len(os.Args) > 1 {
		picks = 40
	}
	var wg sync.WaitGroup
	sums := make([]uint32, 3)
	for i := range 2 {
		wg.Go(func() { sums[i] = work(uint32(88172645 + i)) })
	}
	wg.Go(func() { sums[2] = turns(12345) })
	wg.Wait()
	fmt.Println(sums)
}
