package names_test

import (
	"testing"

	"qinst.dev/internal/names"
)

func TestProcedure(t *testing.T) {
	for name, want := range map[string]string{"main.f-range1": "main.f", "main.f-range1-range2": "main.f",
		"main.f-range1.func1": "main.f-range1.func1", "main.f": "main.f",
		"main.(*T).m-fm": "main.(*T).m", "main.f.gowrap2": "main.f", "main.f.func1.deferwrap1": "main.f.func1",
		"main.wrap1": "main.wrap1", "main.f.gowrap2.func1": "main.f.gowrap2.func1"} {
		if got := names.Procedure(name); got != want {
			t.Errorf("%s is in %s, expected %s", name, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct{ symbol, name, path string }{
		{"main.main", "main.main", "main"},
		{"main.main.func1.2", "main.main.func1.2", "main"},
		{"net/http.(*conn).serve", "net/http.(*conn).serve", "net/http"},
		{"main.(*Cache[go.shape.int,go.shape.string]).Get", "main.(*Cache[...]).Get", "main"},
		{"main.(*Cache[...]).Get", "main.(*Cache[...]).Get", "main"},
		{"example.com/a/b.Map[go.shape.struct { F [2]int },example.com/c%2ed.E].func1",
			"example.com/a/b.Map[...].func1", "example.com/a/b"},
		{"gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v3"},
		{"github.com/nats-io/nats%2ego.(*Conn).readLoop-range1", "github.com/nats-io/nats.go.(*Conn).readLoop-range1",
			"github.com/nats-io/nats.go"},
		{"example.com/100%25.f", "example.com/100%.f", "example.com/100%"},
		{"select(github.com/nats-io/nats%2ego.(*Conn).newRequest.mch, time.(*Timer).C, gopkg.in/a%2eb.C[...].c)",
			"select(github.com/nats-io/nats.go.(*Conn).newRequest.mch, time.(*Timer).C, gopkg.in/a.b.C[...].c)", ""},
		{"main.f%2e", "main.f%2e", "main"},
		{"type:.eq.[2]string", "type:.eq.[2]string", ""},
		{"goexit", "goexit", ""},
		{"[probes]", "[probes]", ""},
	} {
		paths := names.Paths{}
		paths.Add(c.symbol)
		name := names.Of(c.symbol)
		if name != c.name {
			t.Errorf("%s is called %s, expected %s", c.symbol, name, c.name)
		}
		if again := names.Of(name); again != name {
			t.Errorf("the name %s is called %s", name, again)
		}
		if path := paths.PackageOf(name); path != c.path && c.path != "" {
			t.Errorf("%s is of package %s, expected %s", name, path, c.path)
		}
	}
}
