// Command panics leaves procedures in every way that is not a return: by panics
// that pass frames with and without deferred calls, by Goexit, and out of the
// bodies of ranges over functions. It prints the results.
package main

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
)

//go:noinline
func leaf(n int) int { return n + 1 }

// deep panics n frames down.
//
//go:noinline
func deep(n int) int {
	if n == 0 {
		var p *int
		return *p
	}
	return deep(n-1) + leaf(n)
}

// passing has a deferred call that a panic runs on its way.
//
//go:noinline
func passing(n int) {
	defer func() { leaf(n) }()
	if n == 0 {
		deep(3)
	}
	passing(n - 1)
}

// many has so many deferred calls that its exit cannot be another one.
//
//go:noinline
func many() {
	defer leaf(1)
	defer leaf(2)
	defer leaf(3)
	defer leaf(4)
	defer leaf(5)
	defer leaf(6)
	defer leaf(7)
	defer leaf(8)
	deep(2)
}

//go:noinline
func try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	f()
	leaf(0)
	return nil
}

// again recovers, panics anew, and is recovered by its caller.
//
//go:noinline
func again() {
	defer func() {
		leaf(1)
		panic(fmt.Sprint("again: ", recover()))
	}()
	deep(1)
}

// nested panics in a deferred call while panicking.
//
//go:noinline
func nested() {
	defer func() {
		defer func() { leaf(2); recover() }()
		panic("inner")
	}()
	panic("outer")
}

//go:noinline
func recoverOnly() (n int) {
	defer func() { recover(); n = leaf(n) }()
	passing(2)
	return 100
}

//go:noinline
func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer leaf(n)
		for i := range n {
			if !yield(leaf(i)) {
				return
			}
		}
	}
}

//go:noinline
func search(want int) (found int, err error) {
	for i := range numbers(10) {
		for j := range numbers(3) {
			defer leaf(j)
			if i*j == want {
				return i, nil
			}
			if j > i {
				break
			}
		}
		if i == 8 {
			panic("past the end")
		}
	}
	return 0, errors.New("none")
}

//go:noinline
func pulls() int {
	next, stop := iter.Pull(numbers(5))
	defer stop()
	sum := 0
	for range 3 {
		n, _ := next()
		sum += leaf(n)
	}
	return sum
}

//go:noinline
func leaves(n int) {
	defer leaf(n)
	if n == 0 {
		runtime.Goexit()
	}
	leaves(n - 1)
}

//go:noinline
func leavesWhilePanicking() {
	defer func() { leaf(1); runtime.Goexit() }()
	deep(1)
}

//go:noinline
func recoversAndLeaves() {
	defer leaf(1)
	try(func() { passing(1) })
	runtime.Goexit()
}

func main() {
	for round := range 20 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_ = errors.Join(try(func() { deep(round) }), try(func() { passing(3) }), try(many), try(again), try(nested))
				recoverOnly()
				search(6)
				try(func() { search(1000) })
				pulls()
			})
		}
		for _, f := range []func(){func() { leaves(3) }, leavesWhilePanicking, recoversAndLeaves} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				f()
			}()
		}
		wg.Wait()
	}
	fmt.Println(try(func() { deep(1) }), try(again), try(nested), recoverOnly(), pulls())
	fmt.Println(search(6))
	fmt.Println(try(func() { search(1000) }))
}
