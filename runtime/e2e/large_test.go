package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// TestLarge: the compiler inlines hardly anything into a function that is large. So a procedure
// stands once, without the counters of its calls, if both bodies together would be large, has a
// deferred exit if its exits would make it so, and no probes if even that does. Calls inlined into
// it stay inlined.
func TestLarge(t *testing.T) {
	t.Parallel()
	e2e.Build(t, "programs", "literals") // qinst is on the path
	procs := []struct {
		name       string
		statements int
		statement  string
		calls      bool   // have points
		is         string // by the list of points
	}{
		{"small", 10, largeStatement, true, ""},
		{"middle", 40, largeStatement, true, ""},
		{"large", 65, largeStatement, false, "one body: large"},
		{"exits", 95, largeStatement + largeExit, false, "exit by defer one body: large"},
		{"nearly", mostStatements, largeStatement, false, "procedure too large"},
		{"huge", 200, largeStatement, false, "one body: large"},
	}
	var text strings.Builder
	text.WriteString(largeProgram)
	for _, p := range procs {
		fmt.Fprintf(&text, "func %s(x int) int {\n\tif called(x) {\n\t\tx += len(table)\n\t}\n%s\treturn x\n}\n\n", p.name,
			strings.Repeat(p.statement, p.statements))
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module large\n\ngo 1.25\n", "main.go": text.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	plain, probed := inlinedLines(t, dir), inlinedLines(t, dir, "-toolexec", bodies)
	if want := 10 + 40 + 65 + 95 + mostStatements; len(plain) != want {
		t.Errorf("found %d calls inlined, expected %d", len(plain), want)
	}
	for line := range plain {
		if !probed[line] {
			t.Errorf("%s: not inlined with probes", line)
		}
	}
	for _, p := range procs {
		is, calls := listed(t, dir, "main."+p.name)
		if is != p.is || calls > 0 != p.calls {
			t.Errorf("%s: found %q and %d calls, expected %q and calls: %v", p.name, is, calls, p.is, p.calls)
		}
	}
	e2e.Run(t, "", filepath.Join(dir, "large"))
}

// inlinedLines are the places of calls that the compiler inlines.
func inlinedLines(t *testing.T, dir string, flags ...string) map[string]bool {
	t.Helper()
	list := map[string]bool{}
	out := output(t, dir, slices.Concat([]string{"go", "build", "-gcflags=-m"}, flags, []string{"-o", "large", "."})...)
	for line := range strings.Lines(out) {
		if place, _, ok := strings.Cut(line, ": inlining call to inlined"); ok {
			list[place[:strings.LastIndexByte(place, ':')]] = true // probes move columns
		}
	}
	return list
}

// listed returns what the list of points says of a procedure, and how many calls in it are points.
func listed(t *testing.T, dir, name string) (is string, calls int) {
	t.Helper()
	var owner string
	dec := json.NewDecoder(strings.NewReader(output(t, dir, "qinst", "points", "-twins=off", "-json", ".")))
	for dec.More() {
		var p struct {
			Kind, Name, Skip string
			Flags            []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Kind == "proc":
			if owner = p.Name; owner == name {
				is = strings.TrimSpace(strings.Join(append(p.Flags, p.Skip), " "))
			}
		case p.Kind == "call" && owner == name && p.Skip == "":
			calls++
		}
	}
	return is, calls
}

// output is what a command says.
func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// mostStatements make a function that is nearly large.
const mostStatements = 127

const largeStatement = `	if inlined(x) > 1 {
		x += table[x&63]*3 ^ table[(x+1)&63] + table[(x+2)&63] - table[(x+3)&63]
	}
`

const largeExit = `	if x == 12345 {
		return x
	}
`

const largeProgram = `package main

func main() { println(small(1), middle(1), large(1), exits(1), nearly(1), huge(1)) }

var table [64]int

func inlined(x int) int { return table[x&63] + table[(x+1)&63]*table[(x+2)&63] + table[(x+3)&63] }

//go:noinline
func called(x int) bool { return table[x&63] == 3 }

`
