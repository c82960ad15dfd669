package qinst_test

import (
	"fmt"

	"qinst.dev/extensions/qinst"
)

// Reports group goroutines by the name that they give themselves.
func ExampleName() {
	done := make(chan bool)
	go func() {
		qinst.Name("worker")
		done <- true
	}()
	fmt.Println(<-done)
	// Output: true
}

// A region is a part of a goroutine's work: reports say what was used in all regions of one
// name, and how long they took.
func ExampleRegion() {
	load := func(file string) int {
		defer qinst.Region("load").End()
		return len(file)
	}
	fmt.Println(load("config.toml"))
	// Output: 11
}

// Limits can be changed while the program runs. Without qinst this does nothing.
func ExampleSetRate() {
	fmt.Println(qinst.SetRate("main.(*Cache).*", "1e4/s"))
	// Output: <nil>
}

// A flight recorder keeps the last events; a snapshot of them is a file. Without one there is
// none.
func ExampleSnapshot() {
	if file := qinst.Snapshot(); file != "" {
		fmt.Println("the last seconds are in", file)
	} else {
		fmt.Println("start the program with QINST=mode=flight")
	}
	// Output: start the program with QINST=mode=flight
}
