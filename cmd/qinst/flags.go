package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/settings"
)

// flagSet holds the flags of one command, in groups for its help. It differs from package
// flag in two ways: flags may stand anywhere before a program's own arguments, and flags of
// the go command may stand among them.
type flagSet struct {
	*flag.FlagSet
	groups []flagGroup

	// goFlags are the flags to pass on; nil for a command that runs no go command.
	goFlags *goFlags
	// program reports whether the arguments after the first one belong to a program.
	program func() bool
	// before is how many arguments precede that one, with flags between them.
	before int

	passed []string // flags for the go command ahead of the first argument
	chdir  string   // directory in which the go command is to run
	own    []string // flags of the selection, in a form that the go command passes back

	offers map[string]offers // what completion knows of the flags' values
}

type flagGroup struct {
	title string
	names []string
}

func newFlagSet(name string) *flagSet {
	fs := &flagSet{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), program: func() bool { return false }}
	fs.SetOutput(io.Discard)
	return fs
}

// group begins a group: flags defined after this are in it.
func (f *flagSet) group(title string) { f.groups = append(f.groups, flagGroup{title: title}) }

func (f *flagSet) add(name string) {
	g := &f.groups[len(f.groups)-1]
	g.names = append(g.names, name)
}

func (f *flagSet) boolean(p *bool, name, usage string) {
	f.add(name)
	f.BoolVar(p, name, *p, usage)
}

func (f *flagSet) text(p *string, name, usage string) {
	f.add(name)
	f.StringVar(p, name, *p, usage)
}

func (f *flagSet) number(p *int, name, usage string) {
	f.add(name)
	f.IntVar(p, name, *p, usage)
}

// processors defines a flag of one number of processors.
func (f *flagSet) processors(p *int, name, usage string) {
	f.function(name, usage, func(s string) (err error) {
		*p, err = strconv.Atoi(s)
		if err != nil || *p < 0 || *p > trace.MaxProcs {
			return fmt.Errorf("found -%s=%s, expected a number of processors, %d at most", name, s, trace.MaxProcs)
		}
		return nil
	})
}

// processorsOf reads numbers of processors, separated by commas.
func processorsOf(flag, text string) (list []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > trace.MaxProcs {
			return nil, fmt.Errorf("found -%s=%s, expected numbers from 1 to %d, such as 1,2,4", flag, text,
				trace.MaxProcs)
		}
		list = append(list, n)
	}
	return list, nil
}

func (f *flagSet) time(p *time.Duration, name, usage string) {
	f.add(name)
	f.DurationVar(p, name, *p, usage)
}

func (f *flagSet) function(name, usage string, set func(string) error) {
	f.add(name)
	f.Func(name, usage, set)
}

// interval defines the flags -from and -to, which choose a part of a trace.
// optional is a flag that may have a value: -name, for which set gets "", or -name=value.
func (f *flagSet) optional(name, usage string, set func(string) error) {
	f.add(name)
	f.BoolFunc(name, usage, func(s string) error {
		if s == "true" { // as package flag says that there is none
			s = ""
		}
		return set(s)
	})
}

func (f *flagSet) interval(from, to *time.Duration) {
	f.time(from, "from", "start of the interval: a `time` such as 1.5s (default: start of the trace)")
	f.time(to, "to", "end of the interval: a `time` such as 2s (default: end of the trace)")
}

// selection defines the flags that every build takes.
func (f *flagSet) selection(verb string) {
	f.goFlags = goFlagsOf(verb)
	f.group("What to instrument (default: all packages of the main module)")
	for _, s := range []struct{ name, usage string }{
		{"include", "also instrument packages that match these `patterns`: import paths as the go command takes them (example.com/mod/...), std, all"},
		{"exclude", "do not instrument packages that match these `patterns`; without it errgroup and singleflight of golang.org/x/sync are instrumented, too"},
		{"kinds", "insert only these `kinds` of probes: proc, call, loop, sync"},
		{"size", "instrument only procedures with at least `n` SSA instructions"},
		{"small", "only count procedures of fewer than `n` SSA instructions (0: none; default 40)"},
		{"twins", "`off`: procedures have their probes in a second text of their own, for systems on which a program must not write its text, or after an error in the usual form"},
		{"depth", "instrument only the `n` outermost of nested loops"},
		{"without", "do not instrument procedures of these `names`, as reports have them, and do not count their calls"},
		{"factors", "instrument procedures of these `names` whatever their size, and although the compiler would inline them: experiments can delay them"},
		{"cap", "make channels with other capacities, `NAME=N`: main.jobs=64, to try what that gains"},
		{"prune", "run what was too hot for the budget in this trace `file` mostly without probes from the start"},
	} {
		f.function(s.name, s.usage, func(value string) error {
			if s.name == "prune" {
				value, _ = filepath.Abs(value) // the linker runs elsewhere
			}
			arg := "-" + s.name + "=" + value
			_, _, err := toolexec.ParseSelection([]string{arg})
			f.own = append(f.own, arg)
			return err
		})
	}
	f.offer("kinds", "proc", "call", "loop", "sync")
	f.offer("twins", "off")
	f.group("Go command (other flags are passed to go " + verb + ")")
	f.text(&f.chdir, "C", "change to `dir` before running the command")
}

// selected returns the selection that the flags describe, after the flags in more.
func (f *flagSet) selected(more ...string) (toolexec.Selection, error) {
	s, _, err := toolexec.ParseSelection(append(more, f.own...))
	return s, err
}

// errHelp asks for the help of a command.
var errHelp = errors.New("help requested")

// parse sets flags and returns the other arguments. Flags of the go command go to f.passed
// if they precede the first argument, or the one that f.before others precede; later ones stay
// among the arguments.
func (f *flagSet) parse(args []string) (rest []string, err error) {
	f.passed = nil
	keep := func(list ...string) {
		if len(rest) <= f.before {
			f.passed = append(f.passed, list...)
		} else {
			rest = append(rest, list...)
		}
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if len(arg) < 2 || arg[0] != '-' {
			if rest = append(rest, arg); f.program() && len(rest) > f.before {
				return append(rest, args...), nil
			}
			continue
		}
		if arg == "--" {
			return append(rest, args...), nil
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		fl := f.Lookup(name)
		switch {
		case fl != nil:
			if args, err = f.set(fl, value, hasValue, args); err != nil {
				return nil, err
			}
		case name == "h" || name == "help":
			return nil, errHelp
		case f.goFlags == nil || !f.goFlags.knows(name) && settings.NearestWord(name, f.names()) != "":
			return nil, f.unknown(name)
		case name == "args" && f.goFlags.test:
			keep(append([]string{arg}, args...)...)
			return rest, nil
		case !hasValue && f.goFlags.takesValue(name) && len(args) > 0:
			keep(arg, args[0])
			args = args[1:]
		default:
			keep(arg)
		}
	}
	return rest, nil
}

// set gives a flag its value, which may be the first of args, and returns the rest.
func (f *flagSet) set(fl *flag.Flag, value string, hasValue bool, args []string) ([]string, error) {
	if !hasValue && isBool(fl) {
		value, hasValue = "true", true
	}
	if !hasValue {
		if len(args) == 0 {
			return nil, fmt.Errorf("found -%s without a value, expected %s", fl.Name, cmp.Or(expected(fl), wanted(fl)))
		}
		value, args = args[0], args[1:]
	}
	if err := f.Set(fl.Name, value); err != nil {
		if want := expected(fl); want != "" {
			return nil, fmt.Errorf("found -%s=%s, expected %s", fl.Name, value, want)
		}
		return nil, err
	}
	return args, nil
}

// wanted describes the value of a flag by the word for it in its help.
func wanted(fl *flag.Flag) string {
	value, _ := flag.UnquoteUsage(fl)
	return fmt.Sprintf("one: -%s %s", fl.Name, strings.ToUpper(value))
}

// unknown returns the error for an unknown flag, with the nearest known name.
func (f *flagSet) unknown(name string) error {
	if near := settings.NearestWord(name, f.names()); near != "" {
		return fmt.Errorf("unknown flag -%s (did you mean -%s?)", name, near)
	}
	return fmt.Errorf("unknown flag -%s", name)
}

func (f *flagSet) names() (list []string) {
	for _, g := range f.groups {
		list = append(list, g.names...)
	}
	return list
}

func isBool(fl *flag.Flag) bool {
	b, ok := fl.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// expected describes the values that a flag takes, "" if the flag's own error does so.
func expected(fl *flag.Flag) string {
	g, ok := fl.Value.(flag.Getter)
	if !ok {
		return ""
	}
	switch g.Get().(type) {
	case time.Duration:
		return "a time such as 10ms or 1.5s"
	case int:
		return "a whole number"
	case bool:
		return "true or false"
	}
	return ""
}

// usage writes the flags by group.
func (f *flagSet) usage(w io.Writer) {
	for _, g := range f.groups {
		fmt.Fprintf(w, "\n%s:\n", g.title)
		for _, name := range g.names {
			left, text := flagLine(f.Lookup(name))
			const indent = "                     "
			fmt.Fprintf(w, "  %-18s %s\n", left, strings.Join(wrapped(text, 90-len(indent)), "\n"+indent))
		}
	}
}

// wrapped breaks a text between words into lines of at most width bytes. A longer word gets
// a line of its own.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
