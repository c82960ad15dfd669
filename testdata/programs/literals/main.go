// Program literals prints the names and lines that tracebacks and profiles give to functions
// within functions: literals in functions, methods and literals, direct, deferred, started and
// inlined with the functions that they stand in. With probes it prints the same.
package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
)

var out sync.Mutex

// frames prints the stack in the ways in which programs ask for it.
//
//go:noinline
func frames(what string) {
	out.Lock()
	defer out.Unlock()
	pcs := make([]uintptr, 50)
	pcs = pcs[:runtime.Callers(2, pcs)]
	fmt.Println("==", what)
	for _, pc := range pcs {
		f := runtime.FuncForPC(pc - 1)
		fmt.Print(f.Name(), " ")
	}
	fmt.Println()
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			fmt.Println(f.Function, f.Line, f.Func != nil && f.Func.Name() == f.Function)
		}
		if !more {
			break
		}
	}
	_, _, line, _ := runtime.Caller(1)
	fmt.Println("line", line)
	traceback()
}

var changing = regexp.MustCompile(`\(0x.*|\(\{?\.\.\..*|\(\{0x.*| \+0x.*|0x[0-9a-f]+|goroutine \d+|in goroutine.*|/\S*/`)

func traceback() {
	for line := range strings.Lines(string(debug.Stack())) {
		if !strings.Contains(line, "debug.Stack") && !strings.Contains(line, "runtime/") && !strings.HasPrefix(line, "main.frames") {
			fmt.Println(changing.ReplaceAllString(strings.TrimRight(line, "\n"), ""))
		}
	}
}

//go:noinline
func call(f func(int) int, n int) int { return f(n) }

func recovered() {
	if v := recover(); v != nil {
		frames(fmt.Sprint("recovered ", v))
	}
}

type tree struct {
	left, right *tree
	n           int
}

// walk is a method with literals in literals, several levels deep.
func (t *tree) walk(depth int) (sum int) {
	defer func() {
		if depth == 0 {
			frames("deferred in a method")
		}
	}()
	for i, inner := range []*tree{t.left, t.right} {
		if inner != nil {
			sum += call(func(n int) int {
				if n == 1 {
					frames("literal in a method")
				}
				each := func(k int) int {
					for range k {
						sum += call(func(m int) int {
							if n == 1 && m == 2 {
								frames("three deep")
							}
							return m
						}, k)
					}
					return inner.walk(depth + 1)
				}
				return each(2)
			}, i)
		}
	}
	return sum + call(func(n int) int { return n * t.n }, 1)
}

// sorted is inlined, with its literal, into what calls it.
func sorted(list []int) { sort.Slice(list, func(i, j int) bool { return less(list[i], list[j]) }) }

var seen int

//go:noinline
func less(a, b int) bool {
	if seen++; seen%3 == 1 {
		frames("inlined with its function")
	}
	return a < b
}

func index[T comparable](list []T, x T) int {
	return slices.IndexFunc(list, func(y T) bool { frames("generic"); return x == y })
}

// inlines has literals of its own between calls that bring others.
//
//go:noinline
func inlines(n int) (r int) {
	list := []int{3, 1, 2}
	sorted(list)
	r += call(func(n int) int { frames("between"); return n }, n)
	list = append(list, 0)
	sorted(list)
	r += index(list, 2)
	r += index([]string{"a"}, "b")
	func() {
		frames("called at once")
		r++
	}()
	for i := range 10 {
		r += call(func(n int) int {
			if i == n {
				frames("in a loop")
			}
			return n + i
		}, 9)
	}
	return r
}

// panics has a run-time error, a panic and a nil function in literals.
func panics(n int) (err error) {
	defer recovered()
	for i := range n + 1 {
		func() {
			defer func() {
				if i < n {
					_ = recover()
				}
			}()
			var p *int
			call(func(k int) int {
				if k == n {
					return *p
				}
				panic("early")
			}, i)
		}()
	}
	return nil
}

// starts has go statements of all forms, some of them in literals.
func starts(n int) {
	var wg sync.WaitGroup
	step := make(chan bool, 1)
	step <- true
	done := func(what string) {
		<-step
		frames(what)
		step <- true
		wg.Done()
	}
	wait := func() { wg.Wait() }
	for _, what := range []string{"started", "started again"} {
		wg.Add(1)
		go done(what)
		wait()
	}
	wg.Add(1)
	go func() {
		call(func(int) int { done("in a goroutine"); return 0 }, n)
	}()
	wait()
	call(func(n int) int {
		wg.Add(1)
		go func(n int) {
			defer func() { _ = recover() }()
			defer done("in a goroutine of a literal")
			panic(n)
		}(n)
		wait()
		return n
	}, n)
}

func main() {
	t := &tree{&tree{nil, &tree{n: 1}, 2}, &tree{n: 3}, 4}
	fmt.Println(t.walk(0), inlines(1))
	_ = panics(2)
	starts(1)
	if len(os.Args) > 1 {
		func() { call(func(n int) int { return n / (n - 1) }, 1) }()
	}
}
