// Command served works until its input ends, and serves the tool's pages about itself.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	_ "qinst.dev/extensions/debug"
)

//go:noinline
func busy(n int) int { return n*7 + 1 }

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, nil)
	fmt.Println(l.Addr())
	var stop atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	n, x := 0, 0
	for !stop.Load() {
		x = busy(x)
		n++
		if n%100 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println(n)
}
