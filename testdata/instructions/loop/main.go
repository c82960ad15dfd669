// Command loop calls a procedure as often as its argument says. The procedure is as small as one
// can be that a plain build does not inline, so that nearly all of its price is the probes'.
package main

import (
	"fmt"
	"os"
	"strconv"
)

// mix is not inlined, because its cost is just above the compiler's budget of 80, though it is
// some 20 instructions: exchanged variables take of the budget and make no instructions.
func mix(x, y uint64) uint64 {
	x ^= x << 13
	x, y = y, x+y
	x, y = y, x^y
	x ^= x >> 7
	x, y = y, x-y
	x, y = y, x^y
	x ^= x << 17
	x, y = y, x+y
	x, y = y, x^y
	x, y = y, x-y
	x, y = y, x+y
	x, y = y, x^y
	return x ^ y
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	x := uint64(1)
	for i := range uint64(n) {
		x = mix(x, i)
	}
	fmt.Println(x)
}
