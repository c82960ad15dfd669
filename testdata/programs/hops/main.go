// Command hops runs goroutines that yield within a procedure until one ends the process.
package main

import (
	"os"
	"runtime"
	"time"
)

func main() {
	for range 50 {
		go func() {
			for {
				hop()
			}
		}()
	}
	time.Sleep(20 * time.Millisecond)
	os.Exit(0)
}

//go:noinline
func hop() { runtime.Gosched() }
