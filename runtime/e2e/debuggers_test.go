package e2e_test

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// TestDebuggers checks that the debug information of the user's functions is that of a plain build:
// parameters and results have their names, and a debugger stops at no line of a probe.
func TestDebuggers(t *testing.T) {
	t.Parallel()
	e2e.Build(t, "programs", "debugged")
	for _, flags := range []string{"", "-N -l"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			plain, probed := buildDebugged(t, "go", flags), buildDebugged(t, "qinst", flags)
			want, _ := told(t, plain)
			got, files := told(t, probed)
			twins := 0
			for _, name := range slices.Sorted(maps.Keys(got)) {
				switch got[name] {
				case want[name]:
				case want[name] + want[name]: // a twin's, too: a breakpoint is at both
					twins++
				default:
					if want[name] == "" && (name == "main.init" || strings.Contains(name, ".deferwrap")) {
						continue // the compiler's
					}
					t.Errorf("%s has parameters %q, expected %q", name, got[name], want[name])
				}
				delete(want, name)
			}
			if len(want) > 0 || twins < 4 && runtime.GOARCH == "amd64" {
				t.Errorf("%d functions have twins; found nothing of %v", twins, want)
			}
			if len(got) < 8 {
				t.Errorf("found %d functions, expected some more", len(got))
			}
			for _, file := range files {
				if strings.HasPrefix(filepath.Base(file), "qinst_") {
					t.Errorf("a debugger stops at %s", file)
				}
			}
			if len(files) == 0 {
				t.Error("found no lines")
			}
		})
	}
}

// TestSteps: a debugger that steps through the program shows the lines that it shows without
// probes, and steps into none of their functions.
func TestSteps(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("dlv"); err != nil {
		t.Skip("the debugger dlv is not installed")
	}
	if testing.Short() {
		t.Skip("with -short nobody waits for a debugger")
	}
	e2e.Build(t, "programs", "debugged")
	plain, probed := buildDebugged(t, "go", "-N -l"), buildDebugged(t, "qinst", "-N -l")
	for command, n := range map[string]int{"next": 30, "step": 250} {
		want := stepped(t, plain, "", command, n)
		for _, settings := range []string{"mode=off", "mode=trace,budget=off"} {
			got := stepped(t, probed, settings, command, n)
			shorter := min(len(got), len(want)) // more of the former stops count as one
			if 2*shorter < len(want) || !slices.Equal(got[:shorter], want[:shorter]) {
				t.Errorf("%s, %s: %s", settings, command,
					unequal(strings.Join(got[:shorter], "\n"), strings.Join(want[:shorter], "\n")))
			}
		}
	}
}

func buildDebugged(t *testing.T, tool, compiler string) string {
	t.Helper()
	if compiler == "" {
		return buildBy(t, tool, "debugged")
	}
	return buildBy(t, tool, "debugged", "-gcflags="+compiler)
}

// buildBy builds a program of testdata with go or qinst. Neither may print anything, except for
// qinst's line about compiling the standard library.
func buildBy(t *testing.T, tool, program string, flags ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), program)
	cmd := exec.Command(tool, slices.Concat([]string{"build"}, flags, []string{"-o", exe, "./" + program})...)
	cmd.Dir, cmd.Env = filepath.Join("..", "..", "testdata", "programs"), e2e.Compiling()
	out, err := cmd.CombinedOutput()
	if tool == "qinst" {
		out = compiling.ReplaceAll(out, nil)
	}
	if err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

var compiling = regexp.MustCompile(`(?m)^qinst: compiling .*\n`)

var (
	stop    = regexp.MustCompile(`(?m)^(?:\(dlv\) )?> (?:\[.*?\] )?(?:goroutine\(\d+\): )?(\S+\(\).*?:\d+) `)
	helpers = regexp.MustCompile(`^main\.(\(\*)?_qinst_`)
)

// stepped returns the lines where a debugger stops that gets a command n times in main.
func stepped(t *testing.T, exe, settings, command string, n int) []string {
	t.Helper()
	cmd := exec.Command("dlv", "exec", "--allow-non-terminal-interactive=true", exe)
	cmd.Stdin = strings.NewReader("break main.main\ncontinue\n" + strings.Repeat(command+"\n", n) + "exit\n\n")
	cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir(),
		"QINST=out="+filepath.Join(t.TempDir(), "trace.sddf")+","+settings)
	out, err := cmd.CombinedOutput()
	list, last := []string(nil), map[string]string{}
	for _, m := range stop.FindAllStringSubmatch(string(out), -1) {
		if strings.HasPrefix(m[1], "runtime.main()") {
			break
		}
		if strings.Contains(m[1], ".deferwrap") {
			continue // there debuggers stop only if the wrapper calls a function of the runtime's
		}
		// Where something follows a call at its line, a debugger that steps out of the call stops
		// there once more.
		if function, _, _ := strings.Cut(m[1], "() "); last[function] != m[1] {
			list = append(list, m[1])
			last[function] = m[1]
		}
	}
	if len(list) < 10 {
		t.Fatalf("%v\n%s", err, out)
	}
	return list
}

// told returns the parameters of each of the user's functions, and the files of the lines where a
// debugger may stop in them.
func told(t *testing.T, exe string) (params map[string]string, files []string) {
	t.Helper()
	file, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	data, err := file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	params = map[string]string{}
	ranges := map[uint64]uint64{}
	var units []*dwarf.Entry
	name := ""
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		origin := e
		if at, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			o := data.Reader()
			if o.Seek(at); err == nil {
				origin, err = o.Next()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		called, _ := origin.Val(dwarf.AttrName).(string)
		switch e.Tag {
		case dwarf.TagCompileUnit:
			if called == "main" {
				units = append(units, e)
			}
		case dwarf.TagSubprogram:
			name = called
			low, ok := e.Val(dwarf.AttrLowpc).(uint64)
			if !strings.HasPrefix(name, "main.") || helpers.MatchString(name) || !ok {
				name = ""
				continue
			}
			params[name] += ";"
			ranges[low] = end(e, low)
		case dwarf.TagFormalParameter:
			if name != "" {
				result, _ := e.Val(dwarf.AttrVarParam).(bool)
				if origin != e {
					result, _ = origin.Val(dwarf.AttrVarParam).(bool)
				}
				params[name] += fmt.Sprintf(" %s %v", called, result)
			}
		case dwarf.TagInlinedSubroutine:
			name = "" // what is in it is another function's
		}
	}
	for _, unit := range units {
		files = append(files, stops(t, data, unit, ranges)...)
	}
	slices.Sort(files)
	return params, slices.Compact(files)
}

// end returns where a function ends.
func end(e *dwarf.Entry, low uint64) uint64 {
	switch high := e.Val(dwarf.AttrHighpc).(type) {
	case uint64:
		return high
	case int64:
		return low + uint64(high)
	}
	return low
}

// stops returns the files of the lines of functions at which a debugger may stop.
func stops(t *testing.T, data *dwarf.Data, unit *dwarf.Entry, functions map[uint64]uint64) (files []string) {
	t.Helper()
	r, err := data.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	starts := slices.Sorted(maps.Keys(functions))
	for {
		var line dwarf.LineEntry
		if err := r.Next(&line); errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		i, found := slices.BinarySearchFunc(starts, line.Address, cmp.Compare)
		if !found {
			i--
		}
		if i >= 0 && line.Address < functions[starts[i]] && line.IsStmt && !line.EndSequence {
			files = append(files, line.File.Name)
		}
	}
}
