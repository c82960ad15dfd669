package instrument_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
	"qinst.dev/sddf/spec"
)

const spinning = `package p

import "sync/atomic"

var flag atomic.Int32

func procyield(cycles uint32)

func yieldTo(next *int32)

func yieldNow() bool

func handOver(to uint32)

var total int

func yieldWork(n int) {
	total++
	total += n
	total++
	total += n
	total++
	total += n
	total++
	total += n
	total++
}

func spins() {
	for flag.Load() == 0 {
		procyield(10)
	}
}

func writes(n *int32) {
	for flag.Load() == 0 {
		yieldTo(n)
	}
}

func answers() {
	for flag.Load() == 0 {
		yieldNow()
	}
}

func other() {
	for flag.Load() == 0 {
		handOver(1)
	}
}

func works() {
	for flag.Load() == 0 {
		yieldWork(3)
	}
}

func receives(c <-chan int) {
	for flag.Load() == 0 {
		<-c
	}
}
`

// A loop that reads a flag again spins if it does nothing besides but pause. A function without a
// body is a pause by its name, numbers as arguments, and no result: with other arguments or results
// it may work. One whose body was not analyzed is none.
func TestSpin(t *testing.T) {
	t.Parallel()
	set := pointsOf(t, spinning, "sync/atomic")
	found := map[string]bool{}
	for _, pt := range set.Points {
		if pt.Kind == spec.PointLoop {
			name := strings.TrimPrefix(set.Points[pt.Owner].Name, "example.com/p.")
			found[name] = pt.Flags&spec.FlagSpin != 0
		}
	}
	for name, want := range map[string]bool{"spins": true, "writes": false, "answers": false, "other": false,
		"works": false, "receives": false} {
		if spins, ok := found[name]; !ok || spins != want {
			t.Errorf("the loop of %s: a point %v, spins %v, expected a point that spins: %v", name, ok, spins, want)
		}
	}
}

// pointsOf finds the points of a package p that imports another one.
func pointsOf(t *testing.T, text, imports string) *points.Set {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := instrument.Load(&instrument.Source{
		Path: "example.com/p", ImportPath: "example.com/p", Files: []string{file}, Lang: "go1.26", GOARCH: "amd64",
		ImportCfg: listWorld(t, []string{imports}).cfg, FileName: filepath.Base,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.Points(answer(nil), points.Limits{})
}
