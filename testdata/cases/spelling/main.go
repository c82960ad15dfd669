package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os/exec"
	"sort"
	"strings"
	"sync"
	"time"
)

type sentence struct {
	id   int
	text string
}

// folder normalises text with the system's tr.
type folder struct {
	path string
	args []string
	runs int
	mu   sync.Mutex
}

func newFolder() (*folder, error) {
	p, err := exec.LookPath("tr")
	return &folder{path: p, args: []string{"A-Z", "a-z"}}, err
}

func (f *folder) pipe(in string) (string, error) {
	f.mu.Lock()
	f.runs++
	f.mu.Unlock()
	cmd := exec.Command(f.path, f.args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	return string(out), err
}

func (f *folder) all(ss []sentence) ([]string, error) {
	var sb strings.Builder
	for _, s := range ss {
		sb.WriteString(s.text)
		sb.WriteByte('\n')
	}
	out, err := f.pipe(sb.String())
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), nil
}

func (f *folder) each(ss []sentence) ([]string, error) {
	out := make([]string, 0, len(ss))
	for _, s := range ss {
		t, err := f.pipe(s.text)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

type lexicon struct {
	mu     sync.Mutex
	counts map[string]int
}

func (l *lexicon) learn(text string) {
	for _, w := range strings.Fields(text) {
		for d := 0; d < len(w); d++ {
			v := w[:d] + w[d+1:]
			l.mu.Lock()
			l.counts[v]++
			l.mu.Unlock()
		}
	}
}

func (l *lexicon) digest() uint64 {
	keys := make([]string, 0, len(l.counts))
	for k := range l.counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	h := fnv.New64a()
	for _, k := range keys {
		fmt.Fprintf(h, "%s=%d;", k, l.counts[k])
	}
	return h.Sum64()
}

func compose(n int) []sentence {
	words := strings.Fields("The Quick Brown Fox Jumps Over Some Lazy Dogs While Seventeen Elephants Contemplate Philosophical Questions")
	out := make([]sentence, n)
	for i := range out {
		var parts []string
		for j := 0; j < 500; j++ {
			parts = append(parts, fmt.Sprintf("%s%d", words[(i*5+j*3)%len(words)], (i+j)%211))
		}
		out[i] = sentence{i, strings.Join(parts, " ")}
	}
	return out
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 400, "sentences")
	flag.Parse()
	start := time.Now()
	f, err := newFolder()
	if err != nil {
		panic(err)
	}
	lex := &lexicon{counts: map[string]int{}}
	text := compose(*n)
	var wg sync.WaitGroup
	for p := 0; p < 2; p++ {
		part := text[p*len(text)/2 : (p+1)*len(text)/2]
		wg.Add(1)
		go func() {
			defer wg.Done()
			normal := f.each
			if *fix {
				normal = f.all
			}
			lines, err := normal(part)
			if err != nil {
				panic(err)
			}
			for _, l := range lines {
				lex.learn(l)
			}
		}()
	}
	wg.Wait()
	fmt.Printf("words %d digest %x\n", len(lex.counts), lex.digest())
	fmt.Printf("truth run %v\n", time.Since(start))
}
