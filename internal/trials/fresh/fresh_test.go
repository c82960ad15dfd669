package fresh

import (
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
)

// TestDrawn: a seed always draws the same programs. Their source is Go, and does not give a
// mechanism away.
func TestDrawn(t *testing.T) {
	t.Parallel()
	parts := filepath.Join("..", "..", "..", folder)
	list, kernels, err := mechanisms(parts)
	if err != nil || len(list) < 40 || len(kernels) < 3 {
		t.Fatalf("found %d mechanisms and %d kernels (%v), expected 40 and 3", len(list), len(kernels), err)
	}
	for _, m := range list {
		m.ns = 1e7
	}
	of := func() *rand.Rand { return rand.New(rand.NewPCG(5, 46)) }
	a, b := of(), of()
	for range 20 {
		p, q := draw(a, list, kernels), draw(b, list, kernels)
		if p.text() != q.text() {
			t.Fatalf("one seed draws %s and %s", p.text(), q.text())
		}
		dir := t.TempDir()
		if err := p.write(dir, parts); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) < 4 {
			t.Fatalf("found %d files, %v", len(files), err)
		}
		for _, file := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), file, nil, 0); err != nil {
				t.Error(err)
			}
			data, err := os.ReadFile(file)
			if err != nil || strings.Contains(string(data), "truth:") {
				t.Errorf("%s tells the truth (%v)", file, err)
			}
		}
	}
}

// TestScore: the truth is the repair with the largest gain, its mechanism and its part of the
// program.
func TestScore(t *testing.T) {
	t.Parallel()
	m := func(id string) *mechanism { return &mechanism{name: id, ids: []string{id}} }
	p := &program{blocks: [][]part{{{mechanism: m("timer"), word: "orders"}, {mechanism: m("less-work"), word: "users"},
		{mechanism: m("timer"), word: "tiles", repaired: true}}}}
	about := func(id, name string) advice.Item { return advice.Item{ID: id, Subject: advice.Subject{Name: name}} }
	remark := advice.Item{ID: "less-work", Remark: true, Text: "main.usersRun 50 %"}
	for _, c := range []struct {
		gains   map[string]gain
		items   []advice.Item
		judged  string
		promise string
	}{
		{map[string]gain{"orders": {value: 40}}, []advice.Item{about("timer", "main.ordersRun")}, "1", "not known"},
		{map[string]gain{"orders": {value: 40}}, []advice.Item{about("timer", "main.usersRun")}, "missed, the first is wrong", ""},
		{map[string]gain{"orders": {value: 40}}, []advice.Item{about("barrier", "main.orders")}, "missed, the first is wrong", ""},
		{map[string]gain{"users": {value: 40}}, []advice.Item{about("timer", "main.orders"), remark}, "in a remark, the first is wrong", ""},
		{map[string]gain{"users": {value: 40}}, []advice.Item{remark}, "in a remark", ""},
		{map[string]gain{"users": {value: 1}}, nil, "healthy: quiet", ""},
		{map[string]gain{"users": {value: 1}}, []advice.Item{about("timer", "main.orders")}, "healthy: false", ""},
		{map[string]gain{"users": {value: 1}, "orders without its waits": {value: 9}}, []advice.Item{about("timer", "main.orders")},
			"healthy: quiet", ""},
		{map[string]gain{"tiles without its waits": {value: 9}}, []advice.Item{about("timer", "main.tiles")}, "healthy: quiet", ""},
	} {
		row := (&score{}).row(p, c.items, 100, c.gains)
		if row[3] != c.judged || row[4] != c.promise {
			t.Errorf("%v, %v: judged %q, promised %q, expected %q and %q", c.gains, c.items, row[3], row[4], c.judged, c.promise)
		}
	}
	s := &score{}
	held := advice.Item{ID: "timer", Subject: advice.Subject{File: "a/orders.go"},
		Gain: &advice.Gain{Low: 30, Ns: 40, High: 50}}
	row := s.row(p, []advice.Item{held}, 100,
		map[string]gain{"orders": {value: 52}})
	if row[5] != "yes" || s.found != 1 || s.inside != 1 {
		t.Errorf("found %q and %+v, expected a promise that holds", row, s)
	}
}
