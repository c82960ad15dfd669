// Command lexer evaluates generated formula sheets: a scanner feeds tokens to
// an evaluator.
package main

import (
	"flag"
	"fmt"
	"hash"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

var revised = flag.Bool("fix", false, "use the revised form")

type kind int

const (
	number kind = iota
	name
	operator
	newline
)

type token struct {
	kind kind
	text string
}

// scanner splits a sheet into tokens and sends them on.
type scanner struct {
	src   string
	pos   int
	out   chan token
	batch chan []token
	held  []token
}

func newScanner(src string) *scanner {
	return &scanner{src: src, out: make(chan token), batch: make(chan []token, 4)}
}

func (s *scanner) emit(k kind, text string) {
	t := token{k, text}
	if !*revised {
		s.out <- t
		return
	}
	if s.held = append(s.held, t); len(s.held) == 256 {
		s.batch <- s.held
		s.held = make([]token, 0, 256)
	}
}

func (s *scanner) run() {
	for s.pos < len(s.src) {
		start := s.pos
		c := rune(s.src[s.pos])
		switch {
		case c == '\n':
			s.pos++
			s.emit(newline, "\n")
		case unicode.IsSpace(c):
			s.pos++
		case unicode.IsDigit(c):
			for s.pos < len(s.src) && unicode.IsDigit(rune(s.src[s.pos])) {
				s.pos++
			}
			s.emit(number, s.src[start:s.pos])
		case unicode.IsLetter(c):
			for s.pos < len(s.src) && unicode.IsLetter(rune(s.src[s.pos])) {
				s.pos++
			}
			s.emit(name, s.src[start:s.pos])
		default:
			s.pos++
			s.emit(operator, string(c))
		}
	}
	if len(s.held) > 0 {
		s.batch <- s.held
	}
	close(s.out)
	close(s.batch)
}

// evaluator computes the value of each line, left to right.
type evaluator struct {
	vars  map[string]int64
	acc   int64
	op    string
	lines int
	total int64

	listing hash.Hash32
}

func (e *evaluator) apply(v int64) {
	switch e.op {
	case "+", "":
		e.acc += v
	case "-":
		e.acc -= v
	case "*":
		e.acc = e.acc * v % 1000003
	}
}

func (e *evaluator) feed(t token) {
	switch t.kind {
	case number:
		v, _ := strconv.ParseInt(t.text, 10, 64)
		e.apply(v)
	case name:
		v := float64(e.vars[t.text])
		e.apply(int64(math.Round(v*math.Pow(1.01, float64(e.lines%60)/12) + math.Log1p(v))))
	case operator:
		e.op = t.text
	case newline:
		e.lines++
		e.total += e.acc
		fmt.Fprintf(e.listing, "%6d %12d %8.3f\n", e.lines, e.acc, float64(e.acc)/1000)
		e.acc, e.op = 0, ""
	}
}

func (e *evaluator) consume(s *scanner) {
	if *revised {
		for b := range s.batch {
			for _, t := range b {
				e.feed(t)
			}
		}
		return
	}
	for t := range s.out {
		e.feed(t)
	}
}

type board struct {
	mu    sync.Mutex
	crc   uint32
	lines int
	total int64
}

func (b *board) add(e *evaluator) {
	b.mu.Lock()
	b.lines += e.lines
	b.total += e.total
	b.crc ^= e.listing.Sum32()
	b.mu.Unlock()
}

func main() {
	flag.Parse()
	start := time.Now()
	var sb strings.Builder
	for i := 0; i < 16000; i++ {
		fmt.Fprintf(&sb, "%d + rate * %d - base + %d * %d\n", i, i%97, i%13, i%7)
	}
	sheet := sb.String()
	b := &board{}
	for round := 0; round < 14; round++ {
		s := newScanner(sheet)
		e := &evaluator{vars: map[string]int64{"rate": 17, "base": 4200 + int64(round)}, listing: crc32.NewIEEE()}
		go s.run()
		e.consume(s)
		b.add(e)
	}
	fmt.Println("lines", b.lines, "total", b.total, "listing", b.crc)
	fmt.Println("truth run", time.Since(start))
}
