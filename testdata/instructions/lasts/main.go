// Command lasts makes as many iterations as its argument says, in a loop of main that is left when all is
// done. In each it calls methods of three types, through an interface, and has two small loops: all
// that there is to count is in one activation.
package main

import (
	"fmt"
	"os"
	"strconv"
)

type shape interface{ area(x int) int }

type (
	square struct{ n int }
	round  struct{ n int }
	flat   struct{ n int }
)

func (v *square) area(x int) int { return v.n*x + 1 }
func (v *round) area(x int) int  { return v.n*x + 2 }
func (v *flat) area(x int) int   { return v.n*x ^ 3 }

var shapes = []shape{&square{1}, &round{2}, &flat{3}, &square{4}}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	sum := 0
	for i := range n {
		for j := range 3 {
			sum += i*j ^ sum>>3
		}
		for _, s := range shapes {
			sum += s.area(i)
		}
	}
	fmt.Println(sum)
}
