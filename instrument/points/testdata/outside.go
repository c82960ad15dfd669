// limits: small=40

// Package p: handlers of requests, tests and benchmarks are known by name, however small they are. The compiler inlines none of them, because it does not see who calls them.
package p

import (
	"net/http"
	"testing"
)

var sink int

func hello(w http.ResponseWriter, _ *http.Request) { // want proc serves
	w.WriteHeader(200) // want call dynamic
}

func TestSmall(t *testing.T) { sink++ } // want proc serves

func BenchmarkSmall(b *testing.B) { // want proc serves
	for range b.N { // want skip loop "short body"
		sink++
	}
}

func helper(n int) { sink += n } // want skip proc "inlinable"

//go:noinline
func use() { // want proc
	http.HandleFunc("/", hello) // want call
	helper(1)                   // want call
	for i := range sink {       // want loop "range sink"
		use() // want call
		sink += i
	}
}
