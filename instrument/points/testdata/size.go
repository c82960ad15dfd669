// limits: size=12

// Package p: procedures of fewer instructions are left out, but for those of directives.
package p

//go:noinline
func small(n int) int { return n } // want skip proc "small"

//qinst:probe
//go:noinline
func wanted(n int) int { return n } // want proc

//go:noinline
func large(n int) (sum int) { // want proc
	for i := range n { // want loop "range n"
		sum += small(i) * small(n) // want call, call
	}
	return sum
}
