// Command tight does nothing but call two procedures that are shorter than their probes, so that many calls fit in any burst.
package main

import "fmt"

//go:noinline
func leaf(x uint32) uint32 {
	if x%3 == 0 {
		return tip(x)
	}
	return tip(x+1) ^ tip(x)
}

//go:noinline
func tip(x uint32) uint32 { return x*1664525 + 1013904223 }

func main() {
	x := uint32(1)
	for range 400_000_000 {
		x = leaf(x)
	}
	fmt.Println(x)
}
