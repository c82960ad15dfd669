// Command killed records until it is killed. It notes in a file, which the killer
// shares, how often each of its threads has been in each procedure.
//
//	killed FILE
//
// The file's words are, for each of 4 threads: times in one, times in two, records.
package main

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"qinst.dev/sddf"
)

const threads, words = 4, 8

type step struct {
	Thread uint8
	N      uint64
}

var steps = sddf.Define[step]("step")

//go:noinline
func one(n uint64) uint64 { return n + two(n) }

//go:noinline
func two(n uint64) uint64 { return n * n }

func main() {
	f, err := os.OpenFile(os.Args[1], os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, 8*threads*words, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	done := make(chan bool)
	for t := range threads {
		go func() {
			runtime.LockOSThread()
			own := (*[words]uint64)(unsafe.Pointer(&page[8*words*t]))
			for n := uint64(0); ; n++ {
				one(n)
				own[0]++
				own[1]++
				steps.Emit(step{uint8(t), n})
				own[2]++
				if n%1000 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	<-done
}
