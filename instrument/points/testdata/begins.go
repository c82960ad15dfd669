// Package p: functions that goroutines begin with. They have probes however small they are, unless they are called as well.
package p

import "sync"

var total int

//go:noinline
func crunch() { // want proc
	for range 1000 { // want skip loop "short body"
		total++
	}
}

func stage(in, out chan int) { // want proc
	out <- 1 + <-in // want sync send weak "p.stage.out", sync receive weak "p.stage.in"
}

func job() { // want proc
	crunch() // want call
}

func called() { // want func derived "p.called", skip proc "inlinable"
	crunch() // want call derived "p.crunch"
}

func Exported() { // want func derived "p.Exported", skip proc "inlinable"
	crunch() // want call derived "p.crunch"
}

//go:noinline
func handed(group *sync.WaitGroup, c chan int) { // want proc
	group.Go(func() { // want call, sync add weak "p.handed.group", proc "p.handed.func1"
		crunch() // want call
	})
	group.Go(job)  // want call, sync add weak "p.handed.group"
	go stage(c, c) // want go
	go called()    // want go
	go Exported()  // want go
	called()       // want call
}
