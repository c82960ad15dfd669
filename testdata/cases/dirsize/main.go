package main

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

type file struct {
	name string
	size int64
}

type folder struct {
	name    string
	files   []file
	folders []*folder
}

func plant(name string, depth int) *folder {
	f := &folder{name: name}
	for i := 0; i < 4; i++ {
		f.files = append(f.files, file{fmt.Sprintf("%s/f%d", name, i), int64(100*depth + i)})
	}
	if depth > 0 {
		for i := 0; i < 3; i++ {
			f.folders = append(f.folders, plant(fmt.Sprintf("%s/d%d", name, i), depth-1))
		}
	}
	return f
}

type job struct {
	taken atomic.Bool
	work  func()
	done  chan struct{}
}

func (j *job) try() {
	if j.taken.CompareAndSwap(false, true) {
		j.work()
		close(j.done)
	}
}

type crew struct {
	queue    chan *job
	patience time.Duration
}

func newCrew(n int) *crew {
	c := &crew{queue: make(chan *job, 1<<14), patience: 2 * time.Millisecond}
	for i := 0; i < n; i++ {
		go func() {
			for j := range c.queue {
				j.try()
			}
		}()
	}
	return c
}

func (c *crew) submit(work func()) *job {
	j := &job{work: work, done: make(chan struct{})}
	c.queue <- j
	return j
}

func (c *crew) await(j *job) {
	t := time.NewTimer(c.patience)
	defer t.Stop()
	select {
	case <-j.done:
	case <-t.C:
		j.try()
		<-j.done
	}
}

type sizer struct {
	crew  *crew
	light bool
	mu    sync.Mutex
	total int64
	files int
}

func (s *sizer) stat(f file) {
	time.Sleep(5 * time.Millisecond)
	s.mu.Lock()
	s.total += f.size
	s.files++
	s.mu.Unlock()
}

func (s *sizer) walk(d *folder) {
	var jobs []*job
	var wg sync.WaitGroup
	for _, sub := range d.folders {
		if s.light {
			wg.Add(1)
			go func() {
				defer wg.Done()
				s.walk(sub)
			}()
			continue
		}
		jobs = append(jobs, s.crew.submit(func() { s.walk(sub) }))
	}
	for _, f := range d.files {
		jobs = append(jobs, s.crew.submit(func() { s.stat(f) }))
	}
	for _, j := range jobs {
		s.crew.await(j)
	}
	wg.Wait()
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 4, "roots")
	flag.Parse()
	start := time.Now()
	s := &sizer{crew: newCrew(6), light: *fix}
	for i := 0; i < *n; i++ {
		s.walk(plant(fmt.Sprintf("/srv%d", i), 3))
	}
	fmt.Printf("files %d bytes %d\n", s.files, s.total)
	fmt.Printf("truth run %v\n", time.Since(start))
}
