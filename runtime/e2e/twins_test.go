package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
)

// bodies is a wrapper that gives procedures two bodies, and no twins.
const bodies = "qinst -twins=off"

// TestBodyCalls is TestCalls with two bodies.
func TestBodyCalls(t *testing.T) {
	t.Parallel()
	e2e.Build(t, "programs", "calls") // qinst is on the path
	checkCalls(t, buildBy(t, "go", "calls", "-toolexec", bodies))
}

// TestJumps: while jumps are written and removed, goroutines recurse, grow their stacks, panic and
// recover, hold and call closures that were made by either of two texts, and the collector runs.
// The program prints what a plain one prints, and knows each function by one address. Counts are
// exact, estimates, or lower bounds.
func TestJumps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e2e.Build(t, "programs", "calls") // qinst is on the path
	want := output(t, dir, textProgram(t, "plain", jumpsProgram))
	exe := textProgram(t, "jumps", jumpsProgram, "-toolexec", "qinst")
	jumped := false
	for _, settings := range []string{"mode=off", "mode=count", "mode=trace,budget=off,limit=0", "budget=1%", "bursts=1ms",
		"budget=100%,bursts=3ms", "", ""} {
		file := filepath.Join(dir, "jumps.sddf")
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), "QINST="+strings.TrimPrefix(settings+",out="+file, ","))
		out, err := cmd.Output()
		if err != nil || string(out) != want {
			t.Errorf("%q: %v: found %.3000s, expected %s", settings, err, out, want)
		}
		if settings != "mode=off" {
			jumped = checkJumped(t, file) || jumped
		}
		_ = os.Remove(file)
	}
	if !jumped {
		t.Error("no procedure ran without its probes, expected that of the hot ones")
	}
}

// checkJumped compares counts with those that are known, and reports whether a procedure ran
// without its probes.
func checkJumped(t *testing.T, file string) (jumped bool) {
	t.Helper()
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	counts := map[string]uint64{"main.round": jumpsRounds, "main.fib": jumpsCalls,
		"main.(*counter).add": jumpsRounds * 30_000, // always exact: it has operations
		"main.mix":            jumpsRounds * 500}    // it has no test of its stack
	for i := range tr.Points {
		p := &tr.Points[i]
		want, known := counts[p.Name]
		if p.Kind != "proc" {
			continue
		}
		jumped = jumped || p.Plain > 0 || p.Uncounted
		e := tr.Hits(trace.PointID(i))
		far := e.Value < want/2 || e.Value > 2*want // of some that are estimated an interval does not hold
		if known && (e.Exact() && e.Value != want || e.Bound() && e.Lo > want || !e.Exact() && !e.Bound() && far) {
			t.Errorf("%s: %d hits, %d without probes, %+v, expected %d", p.Name, p.Hits, p.Plain, e, want)
		}
		delete(counts, p.Name)
	}
	if len(counts) > 0 {
		t.Errorf("did not find %v", counts)
	}
	return jumped
}

// What the program calls: jumpsRounds is the product of two of its constants, and jumpsCalls so
// many times the calls of fib(21).
const (
	jumpsRounds = 240
	jumpsCalls  = 240 * 35421
)

const jumpsProgram = `package main

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

type tree struct {
	left, right *tree
	n           int
}

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{n: 1}
	}
	return &tree{grow(depth - 1), grow(depth - 1), depth}
}

func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.n + t.left.sum() + t.right.sum()
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

// deep makes the stack grow.
func deep(n int) (sum int) {
	var room [20]int
	if n > 0 {
		room[n%20] = deep(n - 1)
	}
	for _, x := range room {
		sum += x
	}
	return sum + 1
}

//go:noinline
func leaf(text string) (n int) {
	for i := range len(text) {
		if text[i] == 'a' {
			n++
		}
	}
	return n
}

//go:noinline
func mix(x uint32, list *[4]uint32) uint32 {
	for i := range list {
		x ^= list[i]
		list[i] += x
	}
	return x
}

func fails(n int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered %v", r)
		}
	}()
	return check(n)
}

func check(n int) error {
	if n%3 == 0 {
		panic(n)
	}
	return errors.New("no panic")
}

// closures holds variables in the order of their uses, by value and by reference.
func closures(n int, step func(int) int, names map[string]int) []func(int) int {
	total := 0
	return []func(int) int{
		func(k int) int {
			total += step(k) + n
			return total
		},
		func(k int) int {
			inner := func(s string) int { return names[s] + k + n }
			return inner("a") + step(total)
		},
	}
}

type counter struct {
	mu   sync.Mutex
	list [3]int
}

//go:noinline
func (c *counter) add(k int) (n int) {
	c.mu.Lock()
	for i := range c.list {
		c.list[i] += k
		n += c.list[i]
	}
	c.mu.Unlock()
	return n
}

// chosen has a table of where its cases are.
//
//go:noinline
func chosen(n int) string {
	switch n {
	case 0:
		return "zero"
	case 1:
		return "one"
	case 2:
		return "two"
	case 3:
		return "three"
	case 4:
		return "four"
	case 5:
		return "five"
	case 6:
		return "six"
	case 7:
		return "seven"
	case 8:
		return "eight"
	}
	return fmt.Sprint(n)
}

// where is in the program's output.
func where() string {
	pc, _, line, _ := runtime.Caller(1)
	f := runtime.FuncForPC(pc)
	known("function", f.Entry())
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	known("frame", frame.Entry)
	_, startLine := f.FileLine(f.Entry())
	return fmt.Sprint(f.Name(), ":", line, frame.Line, startLine > 0)
}

// addresses are those by which functions of each kind were known.
var addresses = map[string]map[uintptr]bool{}
var addressesMu sync.Mutex

func known(kind string, at uintptr) {
	addressesMu.Lock()
	defer addressesMu.Unlock()
	if addresses[kind] == nil {
		addresses[kind] = map[uintptr]bool{}
	}
	addresses[kind][at] = true
}

func round(i int) string {
	list := closures(i, func(k int) int { return k*2 + i }, map[string]int{"a": i})
	sum := 0
	for i, f := range list {
		known(fmt.Sprint("closure ", i), reflect.ValueOf(f).Pointer())
	}
	for k := range 2000 {
		sum += list[k%2](k) % 1000
	}
	for k := range 500 {
		sum += len(chosen(k % 10))
		sum += int(mix(uint32(k), &[4]uint32{1, 2, 3, 4}) % 5)
	}
	c := &counter{}
	for k := range 30_000 {
		sum += c.add(k) % 7
	}
	return fmt.Sprint(grow(9).sum(), fib(21), deep(200+i*20), leaf(strings.Repeat("abc", 500)), fails(i), sum, where(), chosen(i%10))
}

func main() {
	const goroutines, rounds = 6, 40
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	var wg sync.WaitGroup
	lines := make([]string, goroutines)
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				lines[g] = fmt.Sprintf("%d %s", len(lines[g]), round(g*rounds+i))
			}
		})
	}
	wg.Wait()
	close(stop)
	fmt.Println(strings.Join(lines, "\n"))
	for kind, list := range addresses {
		if len(list) > 1 {
			fmt.Println(kind, "has several addresses")
		}
	}
}
`
