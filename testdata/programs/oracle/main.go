// Command oracle does a bit of everything that changes a goroutine's state, and
// writes Go's own execution trace of it to the file it is given.
package main

import (
	"io"
	"iter"
	"log"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, work := range []func(){
		channels, mutexes, rwmutexes, conds, files, pipes, network, timers,
		coroutines, garbage, threads, busy, children, procs, selects, ends, deep,
	} {
		wg.Go(work)
	}
	wg.Wait()
	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}

func channels() {
	to, from := make(chan int), make(chan int, 3)
	go func() {
		for x := range to {
			from <- x
		}
		close(from)
	}()
	go func() {
		for i := range 2000 {
			to <- i
		}
		close(to)
	}()
	for range from {
	}
}

func mutexes() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 8 {
		wg.Go(func() {
			for range 300 {
				mu.Lock()
				if n++; n%64 == 0 {
					runtime.Gosched()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func rwmutexes() {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for range 200 {
				if i == 0 {
					mu.Lock()
					runtime.Gosched()
					mu.Unlock()
					continue
				}
				mu.RLock()
				runtime.Gosched()
				mu.RUnlock()
			}
		})
	}
	wg.Wait()
}

func conds() {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	turn := 0
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			for range 100 {
				mu.Lock()
				for turn%3 != i {
					c.Wait()
				}
				turn++
				c.Broadcast()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func files() {
	f, err := os.CreateTemp("", "oracle")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	b := make([]byte, 1<<16)
	for range 200 {
		if _, err := f.Write(b[:1024]); err != nil {
			log.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		log.Fatal(err)
	}
}

func pipes() {
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for range 300 {
			w.Write([]byte{1})
			runtime.Gosched()
		}
		w.Close()
	}()
	io.Copy(io.Discard, r)
	r.Close()
}

func network() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				log.Fatal(err)
			}
			b := make([]byte, 100)
			for range 100 {
				c.Write(b)
				io.ReadFull(c, b)
			}
			c.SetReadDeadline(time.Now().Add(time.Millisecond))
			c.Read(b)
			c.Close()
		})
	}
	wg.Wait()
	l.Close()
}

func timers() {
	var fired atomic.Int32
	for i := range 50 {
		time.AfterFunc(time.Duration(i)*100*time.Microsecond, func() { fired.Add(1) })
	}
	tick := time.NewTicker(500 * time.Microsecond)
	for range 20 {
		<-tick.C
	}
	tick.Stop()
	time.Sleep(time.Millisecond)
	for fired.Load() < 50 {
		time.Sleep(100 * time.Microsecond)
	}
}

func coroutines() {
	for range 20 {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := 0; yield(i); i++ {
			}
		})
		for range 50 {
			next()
		}
		stop()
	}
}

var sink []byte

func garbage() {
	for range 3000 {
		sink = make([]byte, 10<<10)
	}
	runtime.GC()
	debugStacks()
}

func debugStacks() {
	b := make([]byte, 1<<16)
	runtime.Stack(b, true)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}

func threads() {
	for range 20 {
		done := make(chan bool)
		go func() {
			runtime.LockOSThread() // and end: the thread ends too
			time.Sleep(50 * time.Microsecond)
			close(done)
		}()
		<-done
	}
}

func busy() {
	end := time.Now().Add(60 * time.Millisecond)
	for n := 0; ; n++ {
		if n&0xffff == 0 && time.Now().After(end) {
			return
		}
	}
}

func children() {
	for range 5 {
		if err := exec.Command("/bin/true").Run(); err != nil {
			log.Fatal(err)
		}
	}
}

func procs() {
	n := runtime.GOMAXPROCS(0)
	for _, k := range []int{1, 3, n} {
		runtime.GOMAXPROCS(k)
		time.Sleep(time.Millisecond)
	}
}

func selects() {
	a, b, quit := make(chan int), make(chan int), make(chan bool)
	go func() {
		for i := range 500 {
			select {
			case a <- i:
			case b <- i:
			}
		}
		close(quit)
	}()
	for {
		select {
		case <-a:
		case <-b:
		case <-quit:
			return
		}
	}
}

func ends() {
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			switch i % 3 {
			case 0:
				runtime.Goexit()
			case 1:
				defer func() { recover() }()
				panic(i)
			}
		}()
	}
	wg.Wait()
}

func deep() {
	var f func(n int) int
	f = func(n int) int {
		var pad [64]byte
		if n == 0 {
			return int(pad[0])
		}
		return f(n-1) + int(pad[n%64])
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { f(5000) })
	}
	wg.Wait()
}
