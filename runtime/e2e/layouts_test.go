package e2e_test

import (
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// layoutsProgram has literals that hold variables of all kinds, in functions and loops with probes
// that use these.
const layoutsProgram = `package main

import (
	"fmt"
	"sync"
)

type box struct {
	mu sync.Mutex
	n  int
}

var sink []func() int

//go:noinline
func keep(f func() int) { sink = append(sink, f) }

//go:noinline
func locks(b *box, wg *sync.WaitGroup) (err error) {
	var mu sync.RWMutex
	once, cond := new(sync.Once), sync.NewCond(&mu)
	wg.Add(1)
	go func() {
		defer wg.Done()
		b.mu.Lock()
		b.n++
		b.mu.Unlock()
		mu.RLock()
		defer mu.RUnlock()
		once.Do(func() { err = fmt.Errorf("%d", b.n) })
		cond.Signal()
	}()
	wg.Wait()
	keep(func() int { mu.Lock(); defer mu.Unlock(); return b.n })
	return err
}

//go:noinline
func channels(in <-chan int, big [40]int) (sum, last int) {
	out, done := make(chan int, 4), make(chan struct{})
	go func() {
		for v := range in {
			select {
			case out <- v * big[v%40]:
			case <-done:
				return
			}
		}
		close(out)
	}()
	for v := range out {
		sum += v
		last = v
		keep(func() int { return v + sum + last + len(out) })
	}
	close(done)
	defer func() { sum++; keep(func() int { return sum + cap(done) }) }()
	return sum, last
}

//go:noinline
func loops(list []string, m map[string]*box) func() int {
	total := 0
	for i, s := range list {
		name, n := s, i
		n++
		b, ok := m[name]
		if !ok {
			b = &box{}
			m[name] = b
		}
		keep(func() int { b.mu.Lock(); total += n; b.mu.Unlock(); return total + len(name) + i })
	}
	for i := 0; i < 3; i++ {
		keep(func() int {
			return func() int { total++; return i + total }()
		})
	}
	return func() int { return total }
}

//go:noinline
func calls(dest, value func(int) *box, tnext func() int) {
	for i := range 3 {
		keep(func() int {
			list := []*box{{}, {}, {}}
			list[i] = dest(value(i).n)
			dest(i).n = value(i).n
			return tnext()
		})
	}
}

func main() {
	b, wg := &box{}, &sync.WaitGroup{}
	in := make(chan int, 3)
	in <- 1
	in <- 2
	close(in)
	fmt.Println(locks(b, wg))
	fmt.Println(channels(in, [40]int{1, 2, 3}))
	f := loops([]string{"a", "b"}, map[string]*box{})
	get := func(i int) *box { return &box{n: i} }
	calls(get, get, f)
	n := 0
	for _, g := range sink {
		n += g()
	}
	fmt.Println(f(), n)
}
`

// TestLayouts: a literal and its twin find what its closures hold at the same places, and by the
// same means, a value or a reference.
func TestLayouts(t *testing.T) {
	t.Parallel()
	e2e.Build(t, "programs", "calls") // qinst is on the path
	held, twice := 0, 0
	for name, by := range layouts(t, textProgram(t, "layouts", layoutsProgram, "-toolexec", "qinst")) {
		if !strings.HasPrefix(name, "main.") {
			continue
		}
		if len(by) > 2 || by[0] != by[len(by)-1] {
			t.Errorf("%s has variables at %q, expected them at the same", name, by)
		}
		if held++; len(by) == 2 { // one without probes is the same in both texts
			twice++
		}
	}
	if held < 10 || twice < 4 {
		t.Errorf("%d literals hold variables, %d of them have two texts, expected those of the program", held, twice)
	}
}

// layouts returns, for each function that is a literal with variables, what they are called and
// where they are in its closures, by its name. Names are those of the line table: a twin has that
// of its procedure.
func layouts(t *testing.T, exe string) map[string][]string {
	t.Helper()
	file, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	pcln, err := file.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(pcln, file.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]string{}
	for r := data.Reader(); ; {
		entry, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if entry == nil {
			return list
		}
		pc, ok := entry.Val(dwarf.AttrLowpc).(uint64)
		if entry.Tag != dwarf.TagSubprogram || !entry.Children || !ok {
			continue
		}
		fn, held := table.PCToFunc(pc), holding(t, r)
		if fn != nil && held != "" {
			list[fn.Name] = append(list[fn.Name], held)
		}
	}
}

// holding reads a function's variables up to its end, and returns those that it has by a closure.
func holding(t *testing.T, r *dwarf.Reader) (held string) {
	t.Helper()
	const closureOffset = dwarf.Attr(0x2907) // DW_AT_go_closure_offset of cmd/internal/dwarf
	for {
		v, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if v == nil || v.Tag == 0 {
			return held
		}
		if at := v.Val(closureOffset); at != nil {
			held += fmt.Sprintf(" %v at %v", v.Val(dwarf.AttrName), at)
		}
		if v.Children {
			r.SkipChildren()
		}
	}
}
