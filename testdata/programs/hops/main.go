// Goroutines that give way within a procedure, until one of them ends the process.
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
