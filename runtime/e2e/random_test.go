package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/internal/trials/progen"
)

// TestRandomPrograms runs programs that know how often each call is made and each loop turns. With
// and without probes they print the same, and probes count the same, exactly, in both forms.
// QINST_PROGRAMS is how many, after the first QINST_SEED.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	number := func(name string, fallback int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return fallback
	}
	n, seed := number("QINST_PROGRAMS", 6), number("QINST_SEED", 0)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module random\n\ngo 1.26\n")
	for i := range n {
		write(fmt.Sprintf("p%d/main.go", seed+i), progen.Program(uint64(seed+i)))
	}
	for out, flags := range map[string][]string{"plain": nil, "twins": {"-toolexec", "qinst"},
		"bodies": {"-toolexec", bodies}} {
		write(out+"/.keep", "")
		args := slices.Concat([]string{"build"}, flags, []string{"-o", out + "/", "./..."})
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
			t.Fatalf("%s: %v\n%.4000s", out, err, text)
		}
	}
	calls, loops := 0, 0
	for i := range n {
		name := fmt.Sprintf("p%d", seed+i)
		t.Run(name, func(t *testing.T) {
			c, l := checkRandom(t, dir, "bodies", name)
			calls, loops = calls+c, loops+l
			if c2, l2 := checkRandom(t, dir, "twins", name); c2 < c || l2 < l {
				t.Errorf("twins count %d calls and %d loops, expected %d and %d", c2, l2, c, l)
			}
		})
	}
	t.Logf("%d lines with calls, %d loops", calls, loops)
	if calls < 10*n || loops < 2*n {
		t.Errorf("that is too few")
	}
}

func checkRandom(t *testing.T, dir, form, name string) (calls, loops int) {
	want, err := exec.Command(filepath.Join(dir, "plain", name)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	file := filepath.Join(dir, name+".sddf")
	cmd := exec.Command(filepath.Join(dir, form, name))
	cmd.Env = append(os.Environ(), "QINST=limit=0,budget=off,out="+file)
	if got, err := cmd.CombinedOutput(); err != nil || string(got) != string(want) {
		t.Fatalf("%v: it prints\n%s\nexpected\n%s", err, got, want)
	}
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	skipped, derived := pointsOf(t, dir, name)
	left := map[string]int{}
	counted := map[int]uint64{}
	for _, c := range p.Calls {
		if strings.HasPrefix(c.Callee, "main.f") {
			counted[c.Line] += c.Count
		}
	}
	entries := map[int]*profile.Entry{}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindLoop {
			entries[e.Line] = e
		}
	}
	for _, text := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		f := strings.Fields(text)
		line, _ := strconv.Atoi(f[1])
		n, _ := strconv.ParseUint(f[2], 10, 64)
		switch f[0] {
		case "call":
			calls++
			switch {
			case skipped[line] != "": // and the list of points says why
				left[skipped[line]]++
			case derived[line] && counted[line] < n:
				// A call that would count the calls of the inlined function is left out itself.
				left["derived"]++
			case counted[line] != n:
				t.Errorf("line %d: %d calls counted, %d made", line, counted[line], n)
			}
		case "loop":
			trips, _ := strconv.ParseUint(f[3], 10, 64)
			if e := entries[line]; e != nil {
				loops++
				if e.Calls != n || e.Trips != trips {
					t.Errorf("line %d: loop entered %d times with %d iterations, expected %d and %d", line, e.Calls,
						e.Trips, n, trips)
				}
			}
		}
	}
	t.Logf("lines left out: %v", left)
	for _, n := range left {
		calls -= n
	}
	return calls, loops
}

// pointsOf lists the lines of a program at which a call is skipped, with the
// reason, and those at which one is in an inlined function.
func pointsOf(t *testing.T, dir, name string) (skipped map[int]string, derived map[int]bool) {
	cmd := exec.Command("qinst", "points", "-json", "./"+name)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	skipped, derived = map[int]string{}, map[int]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var l struct {
			Kind, Skip string
			Line       uint32
			Flags      []string
		}
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.Kind == "call" && l.Skip != "" {
			skipped[int(l.Line)] = l.Skip
		}
		if l.Kind == "call" && slices.Contains(l.Flags, "inlined") {
			derived[int(l.Line)] = true
		}
	}
	return skipped, derived
}
