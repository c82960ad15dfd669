package instrument_test

import (
	"fmt"
	"strings"
	"testing"

	"qinst.dev/sddf/spec"
)

// TestManyWays: a function with hundreds of cases, as interpreters have it, has more ways from a
// value to what it was computed from than anybody can go. The searches for what decides an index,
// for what a goroutine owns and for the clock end.
func TestManyWays(t *testing.T) {
	t.Parallel()
	var cases strings.Builder
	for i := range 400 {
		fmt.Fprintf(&cases, "\t\tcase %d:\n\t\t\tsum += %d\n\t\t\tcontinue\n", i, i)
	}
	text := `package p

import "time"

func run(code []int, grid [][]int, n int) (sum int) {
	p, k, d := &grid[0][0], 0, time.Duration(n)
	for i := 0; i < len(code); {
		op := code[i]
		i++
		switch op {
` + cases.String() + `		case -1:
			p, k, d = &grid[k][n], k+i, d*2
		}
		for j := 0; j < n; j++ {
			for l := 0; l < n; l++ {
				*p += grid[l][k]
				sum += *p
			}
			time.Sleep(d)
		}
	}
	return sum
}

func start(codes [][]int, grid [][]int) {
	for i := range codes {
		go run(codes[i], grid, i)
	}
}
`
	loops := 0
	for _, pt := range pointsOf(t, text, "time").Points {
		if pt.Kind == spec.PointLoop {
			loops++
		}
	}
	if loops < 3 {
		t.Errorf("found %d loops, expected the three of run", loops)
	}
}
