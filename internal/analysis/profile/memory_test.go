package profile_test

import (
	"fmt"
	"testing"

	"qinst.dev/internal/trace/tracetest"
)

// Memory is of the innermost procedure of the user's own packages, whatever that calls; its share
// has an interval.
func TestMemory(t *testing.T) {
	b := tracetest.New(1)
	f := b.Proc("main.parse")
	b.Proc("main.join")
	inParse := b.Stack("runtime.mallocgc", "bytes.growSlice", "main.parse", "main.join", "main.main")
	inJoin := b.Stack("runtime.mallocgc", "strings.Join", "main.join", "main.main")
	elsewhere := b.Stack("runtime.mallocgc", "encoding/json.Marshal", "net/http.serve", "runtime.goexit")
	deep := b.Stack("runtime.mallocgc", "regexp.mergeRuneSets.func2", "regexp.makeOnePass")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	for range 40 {
		b.Alloc(g, 1000, inParse)
	}
	for range 20 { // what is recorded of the stack ends before the procedure
		b.Alloc(g, 1000, deep)
	}
	for range 30 {
		b.Alloc(g, 1000, inJoin)
	}
	b.Alloc(g, 10_000, elsewhere) // one large object
	b.Exit(g, f)
	b.End(g)
	b.At(10)
	m := profileOf(t, b).Memory
	if m == nil || m.Bytes != 100_000 || m.Samples != 91 || len(m.Places) != 3 {
		t.Fatalf("memory: %+v", m)
	}
	if p := m.Places[0]; p.Name != "main.parse" || p.Bytes != 60_000 || p.Share != 0.6 || p.Line != 3 ||
		p.Between[0] > 0.55 || p.Between[0] < 0.4 || p.Between[1] < 0.65 {
		t.Errorf("first: %+v", p)
	}
	if p := m.Places[2]; p.Name != "encoding/json.Marshal" || p.Between[1] < 0.15 {
		t.Errorf("one large object tells little: %+v", p)
	}
}

// Where stacks do not reach the user's own code, events tell the procedure, and nothing the line.
// The runtime allocates for others.
func TestMemoryPlaces(t *testing.T) {
	b := tracetest.New(1)
	f := b.Proc("main.parse")
	var deep []string
	for i := range 64 {
		deep = append(deep, fmt.Sprint("encoding/json.f", i))
	}
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.Alloc(g, 1500, b.Stack(deep...))
	// no deeper
	b.Alloc(g, 500, b.Stack("runtime.mallocgc", "internal/runtime/maps.newarray",
		"internal/runtime/maps.(*Map).growToTable", "runtime.mapassign"))
	b.Alloc(g, 1000, b.Stack("runtime.mallocgc", "internal/runtime/maps.newarray",
		"internal/runtime/maps.(*Map).growToTable", "net/rpc.(*Client).send", "runtime.goexit"))
	b.Exit(g, f)
	b.End(g)
	b.At(10)
	m := profileOf(t, b).Memory
	if m == nil || len(m.Places) != 2 || m.Places[0].Name != "main.parse" || m.Places[0].Line != 0 ||
		m.Places[0].Bytes != 2000 || m.Places[1].Name != "net/rpc.(*Client).send" {
		t.Errorf("memory: %+v", m)
	}
}

// A few events that agree do not show that no other procedure took memory.
func TestMemoryFromFewEvents(t *testing.T) {
	b := tracetest.New(1)
	stack := b.Stack("runtime.mallocgc", "main.parse", "runtime.goexit")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Alloc(g, 1000, stack)
	b.Alloc(g, 1000, stack)
	b.End(g)
	b.At(10)
	if p := profileOf(t, b).Memory.Places[0]; p.Share != 1 || p.Between[0] > 0.5 || p.Between[1] != 1 {
		t.Errorf("two events: %+v, expected an interval that begins below 0.5", p)
	}
}

// A dependency may have probes, too: memory is of its caller in the user's own module.
func TestMemoryOfModule(t *testing.T) {
	b := tracetest.New(1)
	f := b.Proc("main.parse")
	b.File(b.Proc("example.com/dep.Grow"), "/home/u/go/pkg/mod/example.com/dep@v1.2.3/dep.go")
	stack := b.Stack("runtime.mallocgc", "example.com/dep.Grow", "main.parse", "main.main", "runtime.goexit")
	alone := b.Stack("runtime.mallocgc", "example.com/dep.Grow", "example.com/other.F", "runtime.goexit")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	b.Alloc(g, 2000, stack)
	b.Alloc(g, 1000, alone)
	b.Exit(g, f)
	b.End(g)
	b.At(10)
	m := profileOf(t, b).Memory
	if m == nil || len(m.Places) != 2 || m.Places[0].Name != "main.parse" ||
		m.Places[1].Name != "example.com/dep.Grow" {
		t.Errorf("memory: %+v", m)
	}
}
