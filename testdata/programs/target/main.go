// Command target does what programs do to their own process, one kind at each run: it takes descriptors, memory,
// users and directories away from whatever else is in the process. What it prints must not depend on
// that. Numbers that may differ a little go to the file "measures" in the working directory.
//
//	target KIND
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

//go:noinline
func square(i int) int { return i * i }

//go:noinline
func sum(n int) (s int) {
	for i := range n {
		s += square(i)
	}
	return s
}

// work keeps two goroutines busy.
func work(d time.Duration) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for begin := time.Now(); time.Since(begin) < d; {
				sum(1000)
			}
		})
	}
	wg.Wait()
}

func must(err error) {
	if err != nil && err != syscall.Errno(0) {
		fmt.Println("error:", err)
	}
}

// measure notes a number.
func measure(name string, n int) {
	f, err := os.OpenFile("measures", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(err)
	fmt.Fprintln(f, name, n)
	must(f.Close())
}

// status measures a field of /proc/self/status, in KiB.
func status(fields ...string) {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		if slices.Contains(fields, name) {
			var n int
			_, _ = fmt.Sscan(rest, &n)
			measure(name, n)
		}
	}
}

// open are the program's descriptors, but for those of the runtime's poller.
func open() (list []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(to, "anon_inode") && !strings.HasPrefix(to, "/sys/") {
			list = append(list, e.Name())
		}
	}
	return list
}

// files makes n files with nine bytes each, and returns a function that prints which have others.
func files(n int) (check func()) {
	var list []*os.File
	for i := range n {
		f, err := os.OpenFile(fmt.Sprintf("f%d", i), os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o644)
		must(err)
		_, err = f.WriteString("123456789")
		must(err)
		list = append(list, f)
	}
	return func() {
		for _, f := range list {
			if b, err := os.ReadFile(f.Name()); err != nil || string(b) != "123456789" {
				fmt.Println(f.Name(), "has", len(b), "bytes", err)
			}
		}
	}
}

// closeAll closes descriptors that the program did not open.
func closeAll() {
	for fd := 3; fd < 1024; fd++ {
		if to, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); !strings.HasPrefix(to, "anon_inode") {
			_ = syscall.Close(fd)
		}
	}
}

const (
	sysCloseRange = 436
	sysFchdir     = 81
	sysFcntl      = 72
)

//go:linkname setLabels runtime/pprof.runtime_setProfLabel
func setLabels(labels unsafe.Pointer)

// nowhere is an address without memory.
func nowhere() *int {
	at := uintptr(4096)
	return *(**int)(unsafe.Pointer(&at))
}

// setUserInC is set where the program is linked with the C library.
var setUserInC func(user int) error

// setUser changes the user of all threads.
func setUser(set func(user int) error) {
	work(200 * time.Millisecond)
	must(set(65534))
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		b, _ := os.ReadFile("/proc/self/task/" + t.Name() + "/status")
		if !strings.Contains(string(b), "Uid:\t65534\t65534\t65534\t65534") {
			fmt.Println("a thread has another user")
		}
	}
	work(200 * time.Millisecond)
	for range 4 { // these go on to the end
		go func() {
			for {
				work(time.Millisecond)
			}
		}()
	}
}

var kinds = map[string]func(){
	"work":  func() { work(300 * time.Millisecond) },
	"short": func() { work(time.Millisecond) },
	"descriptors": func() {
		fmt.Println(open())
		work(300 * time.Millisecond)
		fmt.Println(open())
	},
	"close-all": func() {
		closeAll()
		check := files(300)
		work(300 * time.Millisecond)
		check()
	},
	"close-range": func() {
		_, _, _ = syscall.Syscall(sysCloseRange, 100, 1<<32-1, 0)
		check := files(300)
		work(300 * time.Millisecond)
		check()
	},
	"take-all": func() {
		check := files(1)
		f, err := os.Open("f0")
		must(err)
		stop := make(chan bool)
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for n := 100; n < 1000; n++ {
					_ = syscall.Dup2(int(f.Fd()), n)
				}
				for n := 100; n < 1000; n++ {
					_ = syscall.Close(n)
				}
			}
		}()
		work(300 * time.Millisecond)
		stop <- true
		check()
	},
	"close-stderr": func() {
		r, w, err := os.Pipe()
		must(err)
		must(syscall.Dup2(int(w.Fd()), 2))
		must(w.Close())
		must(syscall.Close(2))
		n, err := r.Read(make([]byte, 1))
		fmt.Println(n, err)
		work(200 * time.Millisecond)
	},
	"lock-memory": func() {
		const current, future = 1, 2
		must(syscall.Mlockall(current | future))
		work(300 * time.Millisecond)
		status("VmRSS")
	},
	"much-memory": func() {
		var all [][]byte
		for range 400 {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
		}
		work(200 * time.Millisecond)
		fmt.Println(len(all))
		status("VmSize")
	},
	"set-user":      func() { setUser(syscall.Setuid) },
	"set-user in C": func() { setUser(setUserInC) },
	"set-root": func() {
		work(200 * time.Millisecond)
		must(os.Mkdir("root", 0o755))
		must(syscall.Chroot("root"))
		must(os.Chdir("/"))
		work(200 * time.Millisecond)
	},
	"change-directory": func() {
		must(os.Mkdir("elsewhere", 0o755))
		must(os.Chdir("elsewhere"))
		work(200 * time.Millisecond)
		list, _ := os.ReadDir(".")
		fmt.Println(list)
	},
	"all-threads": func() {
		f, err := os.Open(".")
		must(err)
		for _, call := range []uintptr{sysFchdir, sysFcntl} { // with a descriptor that only the program has
			r, _, err := syscall.AllThreadsSyscall(call, f.Fd(), 1, 0)
			fmt.Println(r, err)
		}
		work(200 * time.Millisecond)
	},
	"fork": func() {
		work(200 * time.Millisecond)
		begin := time.Now()
		pid, _, _ := syscall.RawSyscall(syscall.SYS_FORK, 0, 0, 0)
		if pid == 0 {
			syscall.Exit(sum(10) % 100)
		}
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(int(pid), &ws, 0, nil)
		must(err)
		fmt.Println(ws.ExitStatus(), ws.Signaled())
		measure("ms", int(time.Since(begin).Milliseconds()))
	},
	"labels": func() {
		x := [8]uintptr{1<<62 + 5, 1 << 40, 7, 1 << 60}
		setLabels(unsafe.Pointer(&x))
		work(50 * time.Millisecond)
		setLabels(nil)
		pprof.Do(context.Background(), pprof.Labels("kind", "labels"), func(context.Context) { work(50 * time.Millisecond) })
	},
	"signals": func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR1, syscall.SIGSEGV)
		must(syscall.Kill(os.Getpid(), syscall.SIGUSR1))
		fmt.Println(<-c)
		must(syscall.Kill(os.Getpid(), syscall.SIGSEGV))
		fmt.Println(<-c)
		debug.SetPanicOnFault(true)
		defer func() { fmt.Println(recover()) }()
		fmt.Println(*nowhere())
	},
	"fault": func() { fmt.Println(*nowhere()) },
	"threads": func() {
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() {
				runtime.LockOSThread()
				time.Sleep(100 * time.Millisecond)
				sum(1000)
			})
		}
		wg.Wait()
	},
	"children": func() {
		for _, kind := range append(slices.Repeat([]string{"short"}, 20), "descriptors") {
			out, err := exec.Command("/proc/self/exe", kind).CombinedOutput()
			fmt.Println(len(out) > 0, err)
		}
	},
	"exec": func() { must(syscall.Exec("/proc/self/exe", []string{"target", "descriptors"}, os.Environ())) },
	"status": func() {
		work(200 * time.Millisecond)
		os.Exit(7)
	},
}

func main() {
	f, ok := kinds[os.Args[1]]
	if !ok {
		fmt.Println("unknown kind", os.Args[1])
		os.Exit(2)
	}
	f()
	fmt.Println("done")
}
