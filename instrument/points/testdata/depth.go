// limits: depth=1 kinds=proc+loop

// Package p: loops in more than one loop are left out, but for those of directives.
package p

//go:noinline
func work(n int) int { return n } // want proc

//go:noinline
func nested(n int) { // want proc
	for range n { // want loop "range n"
		for range n { // want skip loop "nested too deep"
			work(n)
		}
		//qinst:probe
		for range n { // want loop "range n"
			work(n)
		}
	}
}
