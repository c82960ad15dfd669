package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every command explains itself, in the same words however it is asked, on the standard
// output: usage, each flag once, two examples that are command lines of qinst.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		texts := map[string]bool{}
		for _, args := range [][]string{{"help", c.name}, {c.name, "-h"}, {c.name, "--help"}, {c.name, "-help"}} {
			var out, talk bytes.Buffer
			if status := status(newEnv(&out, &talk), dispatch(newEnv(&out, &talk), args)); status != 0 ||
				talk.Len() > 0 {
				t.Errorf("%v: status %d, says %q, expected 0 and nothing", args, status, talk.String())
			}
			texts[out.String()] = true
		}
		if len(texts) != 1 {
			t.Errorf("%s: %d different helps, expected one", c.name, len(texts))
		}
		for text := range texts {
			checkHelp(t, c, text)
		}
	}
}

func checkHelp(t *testing.T, c command, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "usage: qinst "+c.name) {
		t.Errorf("%s: help begins with %.40q", c.name, text)
	}
	for line := range strings.Lines(text) {
		if c.name == "reduce" && strings.HasPrefix(line, "  ") {
			continue // what extensions say of themselves
		}
		if len(line) > 91 || strings.HasSuffix(line, " \n") {
			t.Errorf("%s: help has the line %q of %d bytes, expected at most 90 and no space at its end", c.name, line,
				len(line))
		}
	}
	fs := newFlagSet(c.name)
	c.setup(fs)
	fs.VisitAll(func(f *flag.Flag) {
		if n := len(regexp.MustCompile(`(?m)^  -`+f.Name+`\b`).FindAllString(text, -1)); n != 1 {
			t.Errorf("%s: help has -%s %d times, expected once", c.name, f.Name, n)
		}
		if first := f.Usage[:1]; first != strings.ToLower(first) {
			t.Errorf("%s: help of -%s begins with a capital", c.name, f.Name)
		}
	})
	if len(c.examples) < 2 {
		t.Errorf("%s: %d examples, expected two", c.name, len(c.examples))
	}
	for _, ex := range c.examples {
		args := strings.Fields(strings.SplitN(ex[0], " > ", 2)[0])
		for i := range args { // as a shell would give them
			args[i] = strings.Trim(args[i], "'")
		}
		ec, ok := commandByName(args[0])
		if !ok || !strings.Contains(text, "  qinst "+ex[0]+"\n") {
			t.Errorf("%s: the example %q is not of a command, or not in the help", c.name, ex[0])
			continue
		}
		fs := newFlagSet(ec.name)
		ec.setup(fs)
		if _, err := fs.parse(args[1:]); err != nil {
			t.Errorf("%s: example %q: %v", c.name, ex[0], err)
		}
	}
}

// A misuse is one line that says where help is, with status 2.
func TestMisuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"nothing", `found "nothing", expected a command; see "qinst help"`},
		{"reprot x.sddf", `found "reprot", expected a command (did you mean report?); see "qinst help"`},
		{"help reprot", `help: found "reprot", expected a command (did you mean report?)`},
		{"help a b", `help: found 2 arguments`},
		{"report -jsno", `report: unknown flag -jsno (did you mean -json?); see "qinst help report"`},
		{"report -from", `report: found -from without a value, expected a time such as 10ms or 1.5s; see`},
		{"report -from=soon", `report: found -from=soon, expected a time such as 10ms or 1.5s; see`},
		{"report -json=perhaps", `report: found -json=perhaps, expected true or false`},
		{"profile -n many ./x", `profile: found -n=many, expected a whole number`},
		{"profile -label x", `profile: found -label=x, expected key=value`},
		{"build -inclde=std ./...", `build: unknown flag -inclde (did you mean -include?); see "qinst help build"`},
		{"build -kind proc", `build: unknown flag -kind (did you mean -kinds?)`},
		{"build -kinds=all", `build: flag -kinds: found kind "all", expected`},
		{"run -chek ./x", `run: unknown flag -chek (did you mean -check?)`},
		{"run -ask time ./x", `run: found -ask=time, expected profile, locks, path or latency:REGION`},
		{"run -race", `run: found no package`},
		{"test -exlude=std ./...", `test: unknown flag -exlude (did you mean -exclude?)`},
		{"points -dif=x", `points: unknown flag -dif (did you mean -diff?)`},
		{"version now", `version: found "now", expected no arguments`},
		{"completion tcsh", `completion: found "tcsh", expected one of bash, zsh and fish`},
		{"ctl -x", `ctl: unknown flag -x; see "qinst help ctl"`},
	} {
		var out, talk bytes.Buffer
		e := newEnv(&out, &talk)
		status := status(e, dispatch(e, strings.Fields(c.args)))
		if said := talk.String(); status != 2 || out.Len() > 0 || strings.Count(said, "\n") != 1 ||
			!strings.Contains(said, c.want) {
			t.Errorf("%s: status %d, says %q, expected status 2 and one line with %q", c.args, status, said, c.want)
		}
	}
	for _, c := range commands() {
		if err := dispatch(newEnv(new(bytes.Buffer), new(bytes.Buffer)),
			[]string{c.name, "-inclxde=x", "-qqq=1"}); !errors.As(err, new(usageError)) && c.name != "build" &&
			c.name != "test" {
			t.Errorf("%s takes a flag that there is not: %v", c.name, err)
		}
	}
}

// Flags of qinst may stand anywhere before a program's arguments, and those of the go
// command among them, in their own order.
func TestFlagPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, own, passed, rest string }{
		{"run ./x", "", "", "./x"},
		{"run -ask=profile -check ./x", "ask check=true", "", "./x"},
		{"run -check -race -ask locks -tags a,b -include=std ./x -check -h", "ask check=true include",
			"-race -tags a,b", "./x -check -h"},
		{"run -buildvcs ./x y", "", "-buildvcs", "./x y"},
		{"run -buildvcs=false -C dir ./x", "C=dir", "-buildvcs=false", "./x"},
		{"run -gcflags -N a.go b.go -v", "", "-gcflags -N", "a.go b.go -v"},
		{"run -- -x", "", "", "-x"},
		{"build -o prog -size 3 ./...", "size", "-o prog", "./..."},
		{"build ./a -size=3 ./b", "size", "", "./a ./b"},
		{"build --exclude=std -C=dir -ldflags=-s", "C=dir exclude", "-ldflags=-s", ""},
		{"build -ldflags -size=3 ./x", "", "-ldflags -size=3", "./x"},
		{"test -run Size -size 3 ./x -v -args -size 4 -h", "size", "-run Size", "./x -v -args -size 4 -h"},
		{"test -test.run Size -short ./x", "", "-test.run Size -short", "./x"},
		{"test ./x -mine 3 -kinds=proc", "kinds", "", "./x -mine 3"},
		{"points -C dir -json -race ./...", "C=dir json=true", "-race", "./..."},
		{"points ./... -diff old", "diff=old", "", "./..."},
		{"report x.sddf -json", "json=true", "", "x.sddf"},
		{"profile -n 3 ./x -json", "n=3", "", "./x -json"},
		{"profile a b -runs", "runs=true", "", "a b"},
		{"cut -o - -from=1s a", "from=1s o=-", "", "a"},
	} {
		args := strings.Fields(c.args)
		cmd, _ := commandByName(args[0])
		fs := newFlagSet(cmd.name)
		cmd.setup(fs)
		rest, err := fs.parse(args[1:])
		var own []string
		fs.Visit(func(f *flag.Flag) {
			own = append(own, strings.TrimSuffix(f.Name+"="+f.Value.String(), "=")) // a function has no value to show
		})
		got := [3]string{strings.Join(own, " "), strings.Join(fs.passed, " "), strings.Join(rest, " ")}
		if want := [3]string{c.own, c.passed, c.rest}; err != nil || got != want {
			t.Errorf("%s: %v, own, passed on and rest are %q, expected %q", c.args, err, got, want)
		}
	}
}

// The go command's help names its flags, those with a value with the value.
func TestGoFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verb   string
		topics []string
		unsaid []string // flags that the lists of the help leave out: -o is in its text
	}{
		{"build", []string{"build"}, []string{"o"}},
		{"test", []string{"build", "test", "testflag"}, nil},
	} {
		bools, values := map[string]bool{}, map[string]bool{}
		for _, topic := range c.topics {
			out, err := exec.Command("go", "help", topic).Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^\t-(\w+)( .+)?$`).FindAllStringSubmatch(string(out), -1) {
				if m[2] == "" {
					bools[m[1]] = true
				} else {
					values[m[1]] = true
				}
			}
		}
		for _, name := range c.unsaid {
			values[name] = true
		}
		if len(bools) < 10 || len(values) < 10 {
			t.Fatalf("go help %v names %d and %d flags, expected more", c.topics, len(bools), len(values))
		}
		g := goFlagsOf(c.verb)
		compare(t, "go "+c.verb+": flags without a value", g.bools, bools)
		compare(t, "go "+c.verb+": flags with a value", g.values, values)
		own := newFlagSet("x")
		own.selection(c.verb)
		for _, name := range own.names() {
			if name != "C" && g.knows(name) {
				t.Errorf("-%s is a flag of go %s, expected one of qinst alone", name, c.verb)
			}
		}
	}
}

func compare(t *testing.T, what string, have []string, want map[string]bool) {
	t.Helper()
	for _, name := range have {
		if !want[name] {
			t.Errorf("%s: -%s is none", what, name)
		}
	}
	for name := range want {
		if !slices.Contains(have, name) {
			t.Errorf("%s: -%s is missing", what, name)
		}
	}
}

// Who leaves something out is told what was found, what was expected, and what to do.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^(\w+( \w+)?: )?found .+, expected .+(: qinst |; see "qinst help)`)
	for _, line := range []string{"-size=3", "run", "gate", "gate main", "check", "spt", "doe", "ctl", "cut x.sddf", "merge a.sddf",
		"merge a.sddf b.sddf", "reduce x y", "reduce -ext=profile", "export x.sddf", "completion", "profile -n 3",
		"predict -n 3", "report -from", "report -region", "export -to", "correct -baseline"} {
		var out, talk bytes.Buffer
		err := dispatch(newEnv(&out, &talk), strings.Fields(line))
		if !errors.As(err, new(usageError)) || !form.MatchString(err.Error()) || out.Len() > 0 {
			t.Errorf("%s: found %v, expected what was found, what was expected and what to do", line, err)
		}
	}
}

// The completions offer every command and every flag of qinst.
func TestCompletionText(t *testing.T) {
	t.Parallel()
	for _, s := range shells {
		out, err := read(t, "completion", s.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands() {
			fs := newFlagSet(c.name)
			c.setup(fs)
			for _, name := range append(fs.names(), "help") {
				want := map[string]string{
					"bash": `(?m)^\t` + c.name + `\) flags=".*-` + name + `\b`,
					"zsh":  `(?m)^\t` + c.name + `\)\n\t\tflags=\(.*'-` + name + `:`,
					"fish": `(?m)^complete -c qinst -n '__fish_seen_subcommand_from ` + c.name + `' -o ` + name +
						` -d '.+'( -x -a '.+')?$`,
				}[s.name]
				if !regexp.MustCompile(want).MatchString(out) {
					t.Errorf("%s: no flag -%s of %s", s.name, name, c.name)
				}
			}
		}
	}
}

// bashWord is a word as bash's completion sees it: as it was typed.
func bashWord(s string) string { return "'" + s + "'" }

// Bash runs what it is given, if it is there.
func TestCompletionBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	script, err := read(t, "completion", "bash")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "qinst.bash")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"qinst prof", "profile"},
		{"qinst co", "correct convert cost completion"},
		{"qinst report -fr", "-from"},
		{"qinst -include=std build -siz", "-size"},
		{"qinst run -buildv", "-buildvcs"},
		{"qinst test -bench", "-bench -benchmem -benchtime"},
		{"qinst report x.sd", ""},
		{"qinst help inf", "info"},
		{"qinst completion z", "zsh"},
		{"qinst export -to pe", "perfetto"},
		{"qinst export -to = pe", "perfetto"},
		{"qinst export x.sddf -table = wai", "waits"},
		{"qinst profile -sort n", "npt"},
		{"qinst predict -policy f", "fifo"},
		{"qinst correct -exit re", "recorded reverse"},
		{"qinst run -ask lo", "locks"},
		{"qinst doe f", "fit"},
		{"qinst profile KEPT -list main.wo", "main.worker"},
		{"qinst profile KEPT -focus = main.worker:", `main.worker:\ range\ in`},
		{`qinst profile KEPT -list main.\(\*server\).i`, `main.\(\*server\).iface`},
		{"qinst predict -what-if hold:main.g KEPT", "hold:main.global"},
		{"qinst profile none.sddf -list main.wo", ""},
	} {
		words := strings.Fields(c.line)
		at := len(words) - 1
		for i, w := range words { // what is completed is the last word but the trace
			if words[i] = bashWord(w); w == "KEPT" {
				if words[i] = keptTrace(); i == at {
					at--
				}
			}
		}
		cmd := exec.Command(bash, "-c", fmt.Sprintf(`source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _qinst; echo "${COMPREPLY[*]}"`, file, strings.Join(words, " "), at))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: %v, offers %q, expected %q", c.line, err, got, c.want)
		}
	}
}
