package main

import (
	"bufio"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync"
	"time"
)

type segment struct {
	index  int
	audio  []byte
	length time.Duration
	done   chan caption
}

type caption struct {
	index int
	text  string
}

// recognizer stands for the remote speech service.
type recognizer struct {
	mu    sync.Mutex
	calls int
}

func (r *recognizer) transcribe(s *segment) string {
	r.mu.Lock()
	r.calls++
	r.mu.Unlock()
	time.Sleep(s.length)
	return fmt.Sprintf("%04d %08x", s.index, crc32.ChecksumIEEE(s.audio))
}

type studio struct {
	rec    *recognizer
	jobs   chan *segment
	order  chan *segment
	slots  int
	voices int
}

func (st *studio) split(n int) {
	for i := 0; i < n; i++ {
		audio := make([]byte, 4096)
		for j := range audio {
			audio[j] = byte(i*7 + j*13)
		}
		length := 2 * time.Millisecond
		if i%9 == 4 {
			length = 15 * time.Millisecond
		}
		s := &segment{index: i, audio: audio, length: length, done: make(chan caption, st.slots)}
		st.order <- s
		st.jobs <- s
	}
	close(st.order)
	close(st.jobs)
}

func (st *studio) listen() {
	for s := range st.jobs {
		s.done <- caption{s.index, st.rec.transcribe(s)}
	}
}

func (st *studio) write(w io.Writer) (lines int, err error) {
	bw := bufio.NewWriter(w)
	for s := range st.order {
		c := <-s.done
		if _, err := fmt.Fprintln(bw, c.text); err != nil {
			return lines, err
		}
		lines++
	}
	return lines, bw.Flush()
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 800, "segments")
	flag.Parse()
	start := time.Now()

	st := &studio{rec: &recognizer{}, jobs: make(chan *segment), order: make(chan *segment, 64), voices: 5}
	if *fix {
		st.slots = 1
	}
	go st.split(*n)
	var wg sync.WaitGroup
	for i := 0; i < st.voices; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			st.listen()
		}()
	}
	var out strings.Builder
	lines, err := st.write(&out)
	if err != nil {
		panic(err)
	}
	wg.Wait()
	fmt.Printf("lines %d calls %d sum %08x\n", lines, st.rec.calls, crc32.ChecksumIEEE([]byte(out.String())))
	fmt.Printf("truth run %v\n", time.Since(start))
}
