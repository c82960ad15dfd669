// Command perturb runs programs whose order, or whose time, probes change in a way of their own.
//
//	perturb KIND [NUMBER ...]
package main

import (
	"fmt"
	"os"
	"strconv"
)

// kinds are the programs. Each prints a sum that does not depend on who ran when.
var kinds = map[string]func(number func(i, otherwise int) int) int{
	"control":    control,
	"small":      small,
	"tree":       tree,
	"phases":     phases,
	"pipeline":   pipeline,
	"pingpong":   pingpong,
	"lock":       lock,
	"guarded":    guarded,
	"wait":       lastAtWaitGroup,
	"condition":  lastAtCondition,
	"closed":     lastAtClosed,
	"receiver":   receiver,
	"barrier":    barriers,
	"transposed": transposed,
	"server":     server,
}

func main() {
	if len(os.Args) < 2 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: perturb KIND [NUMBER ...]")
		os.Exit(2)
	}
	fmt.Println(kinds[os.Args[1]](func(i, otherwise int) int {
		if len(os.Args) < i+3 {
			return otherwise
		}
		n, err := strconv.Atoi(os.Args[i+2])
		if err != nil {
			panic(err)
		}
		return n
	}))
}

// tiny is a procedure of some 15 ns, large one without calls of as long as it is told: 26 units of it are as long as one tiny.
//
//go:noinline
func tiny(i int) int {
	s := i
	for k := range 20 {
		s = s*31 + k
	}
	return s
}

//go:noinline
func large(units int) int {
	s := 0
	for i := range units {
		s = s*31 + i
	}
	return s
}

// manyEvents and noEvents take as long as each other without probes.
func manyEvents(n int) (s int) {
	for i := range n {
		s += tiny(i)
	}
	return s
}

func noEvents(n int) int { return large(26 * n) }

// control has few events.
func control(number func(int, int) int) (s int) {
	for range number(0, 600) {
		s += large(1_000_000)
	}
	return s
}

// small does nothing but call a small procedure.
func small(number func(int, int) int) int { return manyEvents(number(0, 30_000_000)) }

//go:noinline
func pieces(n, units int) (s int) {
	for range n {
		s += piece(units)
	}
	return s
}

//go:noinline
func piece(units int) int {
	s := units
	for i := range units {
		s = s*31 + i
	}
	return s
}

// phases calls a small procedure often while nobody else works, and seldom while somebody else works longer: what these calls cost matters only before.
func phases(number func(int, int) int) int {
	begin, sum := make(chan int), make(chan int)
	go func() {
		s := pieces(number(0, 100_000_000), 3)
		begin <- 1
		sum <- s + pieces(1000, 400_000)
	}()
	<-begin
	s := large(900_000_000)
	return s + <-sum
}

type node struct {
	l, r *node
	v    int
}

//go:noinline
func grow(depth, v int) *node {
	if depth == 0 {
		return nil
	}
	return &node{grow(depth-1, 2*v), grow(depth-1, 2*v+1), v}
}

//go:noinline
func walk(n *node) int {
	if n == nil {
		return 0
	}
	return walk(n.l) + mixed(n.v) + walk(n.r)
}

//go:noinline
func mixed(v int) int {
	for range 8 {
		v = v*1103515245 + 12345
	}
	return v & 7
}

// tree walks a tree that is larger than the first caches.
func tree(number func(int, int) int) (s int) {
	t := grow(16, 1)
	for range number(0, 200) {
		s += walk(t)
	}
	return s
}
