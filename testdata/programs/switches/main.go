// Command switches runs threads that sleep in calls that the runtime does not see, and that compute, and
// prints what the system says of each: its number, two moments, and between them how often it gave its processor up and had it
// taken, and how long it waited for one, in ns.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// account is what the system says of the calling thread.
type account struct {
	at, voluntary, involuntary, wait int64
}

func clock() int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// now reads the account at a moment in which the thread keeps its processor.
func now() (a account) {
	for {
		var u, v syscall.Rusage
		syscall.Getrusage(1, &u) // of the thread
		a.at = clock()
		text, err := os.ReadFile("/proc/thread-self/schedstat")
		syscall.Getrusage(1, &v)
		if err != nil {
			panic(err)
		}
		var run int64
		fmt.Sscan(string(text), &run, &a.wait)
		if a.voluntary, a.involuntary = u.Nvcsw, u.Nivcsw; u.Nvcsw == v.Nvcsw && u.Nivcsw == v.Nivcsw && clock()-a.at < 200_000 {
			return a
		}
	}
}

//go:noinline
func burn(n int) (x uint64) {
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func sleeps() {
	ts := syscall.Timespec{Nsec: 50_000}
	for range 300 {
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
		burn(1000)
	}
}

//go:noinline
func computes() { burn(200_000_000) }

func main() {
	work := map[string]func(){"sleeps": sleeps, "computes": computes}
	var lock sync.Mutex
	var lines []string
	var all sync.WaitGroup
	for _, name := range strings.Fields("sleeps computes computes computes") {
		all.Go(func() {
			runtime.LockOSThread()
			burn(50_000_000) // until the system tells of this thread
			from := now()
			work[name]()
			to := now()
			lock.Lock()
			defer lock.Unlock()
			lines = append(lines, fmt.Sprintln(name, syscall.Gettid(), from.at, to.at, to.voluntary-from.voluntary, to.involuntary-from.involuntary, to.wait-from.wait))
		})
	}
	all.Wait()
	fmt.Print(strings.Join(lines, ""))
}
