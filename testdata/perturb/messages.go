package main

import "sync"

// pipeline has three stages, of which the second is the slowest.
func pipeline(number func(int, int) int) (s int) {
	a, b := make(chan int, 64), make(chan int, 64)
	go first(number(0, 150_000), a)
	go second(a, b)
	for x := range b {
		s += x + large(1000)
	}
	return s
}

func first(n int, out chan<- int) {
	for range n {
		out <- large(1500)
	}
	close(out)
}

func second(in <-chan int, out chan<- int) {
	for x := range in {
		out <- x + large(3000)
	}
	close(out)
}

// pingpong sends to and fro.
func pingpong(number func(int, int) int) (x int) {
	a, b := make(chan int), make(chan int)
	go pong(a, b)
	for range number(0, 800_000) {
		a <- x
		x = <-b
	}
	close(a)
	return x
}

func pong(in <-chan int, out chan<- int) {
	for x := range in {
		out <- x + 1
	}
	close(out)
}

// receiver serves two senders, and works longer for the one of them that has no events.
func receiver(number func(int, int) int) (s int) {
	n, events := number(0, 20_000), number(1, 200)
	c := make(chan int)
	go func() {
		for range n {
			s := 0
			for k := range events {
				s += tiny(k)
			}
			c <- s & 1
		}
	}()
	go func() {
		for range n {
			c <- large(events*22)&1 | 2
		}
	}()
	for range 2 * n {
		if x := <-c; x&2 != 0 {
			s += large(500) & 1
		} else {
			s += large(1500) & 1
		}
	}
	return s
}

// transposed lets each of p goroutines send a block to each other one, work, and receive one from each. events is how many small
// procedures it calls in a round, by all goroutines together if shared, else by each.
func transposed(number func(int, int) int) (s int) {
	p, rounds, events, shared := number(0, 4), number(1, 500), number(2, 4000), number(3, 0)
	if shared > 0 {
		events /= p
	}
	blocks := make([][]chan int, p) // from, to
	for i := range blocks {
		for range p {
			blocks[i] = append(blocks[i], make(chan int, 1))
		}
	}
	sums := make([]int, p)
	var wg sync.WaitGroup
	for i := range p {
		wg.Go(func() {
			for r := range rounds {
				sums[i] += transpose(blocks, i, r, events)
			}
		})
	}
	wg.Wait()
	for _, x := range sums {
		s += x
	}
	return s
}

// transpose is a goroutine's part of a round. Who has which share of the work changes with the round.
func transpose(blocks [][]chan int, i, r, events int) (s int) {
	s = manyEvents(events) + noEvents(events*((i+r)%len(blocks))/len(blocks))
	for j := range blocks {
		if j != i {
			blocks[i][j] <- s & 1
		}
	}
	for j := range blocks {
		if j != i {
			s += <-blocks[j][i]
		}
	}
	return s
}
