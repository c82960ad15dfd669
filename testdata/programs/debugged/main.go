// Program debugged has functions of all forms, for debuggers: what they tell of it is the same with
// probes as without.
package main

import (
	"errors"
	"iter"
	"sync"
)

var m sync.Mutex

type shape interface{ area() int }

type square struct{ side int }

func (s *square) area() int {
	sum := 0
	for i := 0; i < s.side; i++ {
		sum += s.side
	}
	return sum
}

func two(a, b int) (int, error) {
	if a > b {
		return a, errors.New("larger")
	}
	for a < b {
		a = step(a)
		if a == 7 {
			break
		}
	}
	return a, nil
}

func blank(n int) (_ int, _ string) {
	for range n {
		n += step(n)
	}
	return n, "x"
}

func step(a int) int {
	m.Lock()
	defer m.Unlock()
	if a < 0 {
		return 0
	}
	return a + 1
}

func ten() (int, int, int, int, int, int, int, int, int, int, any) {
	x := step(1)
	x = step(x)
	return x, x, x, x, x, x, x, x, x, x, x
}

func apply(f func(int) (int, bool), n int) (sum int) {
	for i := range n {
		v, ok := f(i)
		if !ok {
			return
		}
		sum += v
	}
	return sum
}

func generic[T any](list []T, f func(T) int) int {
	n := 0
	for _, x := range list {
		n += f(x)
	}
	return n
}

func fold(ch chan int) int {
	n := 0
	for v := range ch {
		switch {
		case v == step(1):
			n += 2
		case step(v) > 4:
			n++
		default:
			continue
		}
		n += v
	}
	return n
}

func main() {
	var s shape = &square{3}
	println(s.area())
	a, err := two(1, 9)
	if err != nil {
		panic(err)
	}
	b, c := blank(3)
	println(a, b, c)
	println(nth(ten()).(int))
	n := apply(func(i int) (int, bool) {
		x := step(i)
		for range 3 {
			x = step(x)
		}
		return x, i < 4
	}, 5)
	println(n, generic([]int{1, 2}, step))
	ch := make(chan int, 5)
	for i := range 5 {
		ch <- i
	}
	close(ch)
	println(fold(ch))
	for i := range all(3) {
		defer func() (_ error) { last = step(i); return nil }()
	}
}

func all(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

var last int

func nth(a, b, c, d, e, f, g, h, i, j int, k any) any { return k }
