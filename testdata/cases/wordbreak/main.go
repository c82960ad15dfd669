package main

import (
	"errors"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

var errUnknown = errors.New("unknown word")

// fault is an error that remembers where it arose.
type fault struct {
	what  string
	cause error
	trace []byte
}

func (f *fault) Error() string { return f.what + ": " + f.cause.Error() }
func (f *fault) Unwrap() error { return f.cause }

func newFault(what string, cause error) error {
	return &fault{what: what, cause: cause, trace: debug.Stack()}
}

type lexicon struct {
	mu    sync.RWMutex
	words map[string]int
	plain bool
}

func (l *lexicon) find(w string) (int, error) {
	l.mu.RLock()
	rank, ok := l.words[w]
	l.mu.RUnlock()
	if ok {
		return rank, nil
	}
	if l.plain {
		return 0, errUnknown
	}
	return 0, newFault(w, errUnknown)
}

// splitter cuts run-together text into dictionary words.
type splitter struct {
	lex  *lexicon
	memo map[int]int
	text string
}

const longest = 11

func (s *splitter) best(from int) int {
	if from == len(s.text) {
		return 0
	}
	if v, ok := s.memo[from]; ok {
		return v
	}
	best := 1 << 20
	for to := from + 1; to <= len(s.text) && to-from <= longest; to++ {
		rank, err := s.lex.find(s.text[from:to])
		if errors.Is(err, errUnknown) {
			continue
		}
		best = min(best, 1+rank+s.best(to))
	}
	s.memo[from] = best
	return best
}

// distance is the edit distance of two texts.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost = 1 + min(diag, row[j], row[j-1])
			}
			diag, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}

type clerk struct {
	lex    *lexicon
	inbox  <-chan string
	scores chan<- int
}

func (c *clerk) run() {
	for t := range c.inbox {
		s := &splitter{lex: c.lex, memo: map[int]int{}, text: t}
		score := s.best(0)
		for i := range t {
			for j := range 6 {
				score += distance(t, t[i:]+t[:i+j*(len(t)-i)/6]) % 3
			}
		}
		c.scores <- score
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 1000, "texts")
	flag.Parse()
	start := time.Now()
	vocab := strings.Fields("a an the cat dog house runs sleeps under over table garden window quietly morning evening river mountain")
	lex := &lexicon{words: map[string]int{}, plain: *fix}
	for i, w := range vocab {
		lex.words[w] = i % 4
	}
	inbox := make(chan string, 16)
	scores := make(chan int, 16)
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			(&clerk{lex, inbox, scores}).run()
		}()
	}
	go func() {
		for i := 0; i < *n; i++ {
			var sb strings.Builder
			for j := 0; j < 6; j++ {
				sb.WriteString(vocab[(i*7+j*5+i*j)%len(vocab)])
			}
			inbox <- sb.String()
		}
		close(inbox)
		wg.Wait()
		close(scores)
	}()
	total, count := 0, 0
	for s := range scores {
		total += s
		count++
	}
	fmt.Printf("texts %d score %d\n", count, total)
	fmt.Printf("truth run %v\n", time.Since(start))
}
