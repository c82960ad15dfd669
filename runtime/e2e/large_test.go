package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestLarge: the compiler inlines hardly anything into a function that is large. So a procedure
// stands once if both bodies together would be large, and calls inlined into it stay inlined.
func TestLarge(t *testing.T) {
	t.Parallel()
	e2e.Build(t, "programs", "literals") // qinst is on the path
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString(largeProgram)
	for name, statements := range map[string]int{"small": 10, "middle": 40, "large": 65} {
		fmt.Fprintf(&text, "func %s(x int) int {\n%s\treturn x\n}\n\n", name,
			strings.Repeat(largeStatement, statements))
	}
	for name, content := range map[string]string{"go.mod": "module large\n\ngo 1.25\n", "main.go": text.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	build := func(flags ...string) (inlined map[string]bool) {
		cmd := exec.Command("go", append(append([]string{"build", "-gcflags=-m"}, flags...), "-o", "large", ".")...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		inlined = map[string]bool{}
		for line := range strings.Lines(string(out)) {
			if place, _, ok := strings.Cut(line, ": inlining call to inlined"); ok {
				inlined[place[:strings.LastIndexByte(place, ':')]] = true // probes move columns
			}
		}
		return inlined
	}
	plain, probed := build(), build("-toolexec", "qinst")
	if len(plain) != 10+40+65 {
		t.Errorf("found %d calls inlined, expected 94", len(plain))
	}
	for line := range plain {
		if !probed[line] {
			t.Errorf("%s: not inlined with probes", line)
		}
	}
	for _, p := range e2e.Run(t, "", filepath.Join(dir, "large")).Points {
		want, is := map[string]bool{"main.small": true, "main.middle": true, "main.large": false}[p.Name]
		if twice := p.Flags&spec.FlagTwice != 0; is && p.Kind == spec.PointProc && twice != want {
			t.Errorf("%s stands twice: found %v, expected %v", p.Name, twice, want)
		}
	}
}

const largeStatement = `	if inlined(x) > 1 {
		x += table[x&63]*3 ^ table[(x+1)&63] + table[(x+2)&63] - table[(x+3)&63]
	}
`

const largeProgram = `package main

func main() { println(small(1), middle(1), large(1)) }

var table [64]int

func inlined(x int) int { return table[x&63] + table[(x+1)&63]*table[(x+2)&63] + table[(x+3)&63] }

//go:noinline
func called(x int) bool { return table[x&63] == 3 }

`
