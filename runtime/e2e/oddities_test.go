package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestOddities builds a program of constructs that generators write and people seldom do: a
// procedure of 5,000 nodes and more, a switch of 10,000 cases, labels and gotos, literals within
// literals, local types, a generic procedure of many instances. With probes it does the same,
// whatever is recorded, and counts are exact.
func TestOddities(t *testing.T) {
	t.Parallel()
	e2e.Build(t, "programs", "literals") // with the standard library
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module odd\n\ngo 1.25\n", "main.go": oddProgram()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range [][]string{{"-o", "plain"}, {"-o", "probed", "-toolexec", "qinst"}} {
		cmd := exec.Command("go", append([]string{"build"}, flags...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %v\n%.2000s", flags, err, out)
		}
	}
	want, err := exec.Command(filepath.Join(dir, "plain")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	for _, settings := range []string{"mode=count", "mode=trace,budget=off", "budget=5%", "budget=0.1%"} {
		tr, got := e2e.Traced(t, exec.Command(filepath.Join(dir, "probed")), "QINST="+settings)
		if !strings.HasPrefix(got, string(want)) { // there may be a line of the tool's
			t.Errorf("%s: it prints %q, expected %q", settings, got, want)
		}
		if err := tracetest.Validate(tr); err != nil {
			t.Errorf("%s: %v", settings, err)
		}
		hits, crowd := map[string]trace.Estimate{}, 0
		for i := range tr.Points {
			switch p := &tr.Points[i]; {
			case p.Kind == spec.PointProc:
				hits[p.Name] = hits[p.Name].Plus(tr.Hits(trace.PointID(i)))
			case tr.Points[p.Owner].Name == "main.cases":
				crowd++
			}
		}
		if crowd != 0 {
			t.Errorf("%s: found %d calls in main.cases, expected none: it is too large", settings, crowd)
		}
		for name, n := range map[string]uint64{"main.large": rounds, "main.cases": rounds, "main.jumps": rounds,
			"main.nested": rounds, "main.local": rounds, "main.each[...]": 30 * rounds} {
			e := hits[name]
			if e.Exact() && e.Value != n ||
				!e.Exact() && (!strings.HasPrefix(settings, "budget=") || e.Lo > n) {
				t.Errorf("%s: %s was called %d times, found %+v", settings, name, n, e)
			}
		}
	}
	cmd := exec.Command(filepath.Join(dir, "probed"))
	cmd.Env = append(os.Environ(), "QINST=mode=off")
	if got, err := cmd.CombinedOutput(); err != nil || string(got) != string(want) {
		t.Errorf("off: %v: it prints %q, expected %q", err, got, want)
	}
}

// rounds is how often the program calls everything.
const rounds = 2000

func oddProgram() string {
	var b strings.Builder
	b.WriteString("package main\n\nvar table [64]int\n\n//go:noinline\nfunc leaf(x int) int { return table[x&63] + x }\n\n")
	fmt.Fprintf(&b, "func large(x int) int {\n%s\treturn x\n}\n\n",
		strings.Repeat("\tif x&3 == 1 && leaf(x) > 1 {\n\t\tx += table[x&63]*3 ^ table[(x+1)&63] + leaf(x+2)\n\t}\n",
			250))
	b.WriteString("func cases(x int) int {\n\tswitch x {\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "\tcase %d:\n\t\treturn leaf(%d)\n", i*7, i)
	}
	b.WriteString("\t}\n\treturn leaf(x)\n}\n\n")
	b.WriteString(oddJumps)
	var calls strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "type t%d struct{ a [%d]byte }\n\n", i, i+1)
		fmt.Fprintf(&calls, "\t\tsum += each([]t%d{{}, {}})\n", i)
	}
	fmt.Fprintf(&b, "func main() {\n\tsum := 0\n\tfor x := range %d {\n\t\tsum += large(x) + cases(x) + jumps(x) + nested(x) + local(x)\n%s\t}\n\tprintln(sum)\n}\n", rounds, calls.String())
	return b.String()
}

const oddJumps = `func jumps(x int) (sum int) {
	n := 0
again:
	for i := 0; ; i++ {
	inner:
		for j := range 5 {
			switch {
			case j == 3 && x&1 == 0:
				continue again
			case j == 4:
				break inner
			case i > 3:
				break again
			}
			sum += leaf(j)
		}
		if i == 2 {
			goto out
		}
	}
out:
	if n++; n < 3 {
		goto again
	}
	select {
	default:
		sum++
	}
	return sum
}

func nested(x int) int {
	f := func(a int) int {
		g := func(b int) int {
			h := func(c int) int {
				k := func(d int) int {
					for range d & 3 {
						x += leaf(d)
					}
					return x
				}
				return k(c+1) + k(c)
			}
			return h(b) ^ h(b+1)
		}
		return g(a) + g(a+1)
	}
	return f(x) + f(x+1)
}

func local(x int) (sum int) {
	type pair struct{ a, b int }
	type list []pair
	l := list{{x, 1}, {x, 2}}
	for _, p := range l {
		type deep struct{ pair }
		var v any = deep{p}
		if d, ok := v.(deep); ok {
			sum += leaf(d.a) + d.b
		}
	}
	return sum
}

func each[T any](list []T) (n int) {
	for i := range list {
		func() {
			defer func() { recover() }()
			n += leaf(i)
			if i == 1 {
				panic(list[i])
			}
		}()
	}
	return n
}

`
