// Package bench has the parts that trials share: a scratch folder, the qinst command, programs
// built with probes and without, interleaved runs, tables, and the files under results that keep
// them.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/lab"
)

// Env is the environment of a trial.
type Env struct {
	Ctx       context.Context // ends by a signal
	Name, Doc string          // of the trial
	Scratch   string          // a folder that goes when the trial ends
	Qinst     string          // the path of the qinst command, if the trial has flags for it
	Results   string          // the file that keeps tables, if there is one

	words     string // that may follow its flags
	update    bool
	workspace string // GOWORK as the user has it
}

// New makes the scratch folder. It goes with leave, or when a signal ends this process.
func New(ctx context.Context, name, doc, results string) (e *Env, leave func(), err error) {
	scratch, err := lab.MkdirTemp("", "qinst-"+name+"-")
	if err != nil {
		return nil, nil, err
	}
	e = &Env{Ctx: ctx, Name: name, Doc: doc, Scratch: string(scratch), Results: results, workspace: os.Getenv("GOWORK")}
	return e, scratch.Remove, nil
}

// LeaveWorkspace is for trials with modules that are not in go.work.
func (e *Env) LeaveWorkspace() error { return os.Setenv("GOWORK", "off") }

// UsageError is of a command line.
type UsageError struct{ error }

// Usage is an error of the command line.
func Usage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Flags has no flags so far; words says what may follow them.
func (e *Env) Flags(words string) *flag.FlagSet {
	fs := flag.NewFlagSet(e.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are main's to print
	e.words = words
	return fs
}

// ToolFlags has the flags of trials that need the qinst command, and of those that keep tables.
func (e *Env) ToolFlags(words string) *flag.FlagSet {
	fs := e.Flags(words)
	fs.StringVar(&e.Qinst, "qinst", "", "the qinst command's `path`; without, it is built")
	if e.Results != "" {
		fs.StringVar(&e.Results, "kept", e.Results, "the `file` that keeps results")
		fs.BoolVar(&e.update, "update", false, "keep what is measured in the file")
	}
	return fs
}

// Parse reads a command line, and builds the qinst command if its flag is there and does not name
// one.
func (e *Env) Parse(fs *flag.FlagSet, args []string) (err error) {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Printf("usage: go run ./internal/trials %s [flags] %s\n%s\n", e.Name, e.words, e.Doc)
		fs.SetOutput(os.Stdout)
		fs.PrintDefaults()
		return err
	case err != nil:
		return UsageError{err}
	}
	if fs.Lookup("qinst") == nil {
		return nil
	}
	if e.Qinst != "" {
		e.Qinst, err = filepath.Abs(e.Qinst) // the go command runs it elsewhere
		return err
	}
	e.Qinst = filepath.Join(e.Scratch, "qinst")
	return e.Build(e.Qinst, lab.Variant{Name: "qinst", Flags: []string{"-buildvcs=false"},
		Args: []string{"./cmd/qinst"}, Env: []string{"GOWORK=" + e.workspace}}) // as tests of the command build it
}

// Words are those between commas.
func Words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// Choose returns those of a list that are named on the command line, or all if none is.
func Choose[T any](list []T, nameOf func(T) string, names []string) (chosen []T, err error) {
	left := slices.Clone(names)
	for _, x := range list {
		if name := nameOf(x); len(names) == 0 || slices.Contains(names, name) {
			chosen = append(chosen, x)
			left = slices.DeleteFunc(left, func(n string) bool { return n == name })
		}
	}
	if len(left) > 0 {
		return nil, Usage("found %q, expected other names", left)
	}
	return chosen, nil
}

// Keep keeps tables in the file of results, if the user wants that.
func (e *Env) Keep(tables ...Table) error {
	if !e.update {
		return nil
	}
	return keep(e.Results, tables)
}

// Updates reports whether the file of results will change.
func (e *Env) Updates() bool { return e.update }

// Tool runs a command of qinst with settings, and returns what it prints.
func (e *Env) Tool(settings string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(e.Ctx, e.Qinst, args...)
	cmd.Env = append(os.Environ(), "QINST="+settings)
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("qinst %q: %w\n%s", args, err, said.String())
	}
	return text, err
}

// Ask reads what a command of qinst says, as JSON.
func (e *Env) Ask(answer any, args ...string) error {
	text, err := e.Tool("", args...)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}
