// Command qinst builds Go programs that explain their own performance, and
// reads their traces.
//
//	go build -toolexec qinst ./...     # an instrumented build
//	qinst run ./prog                   # build, run, report
//	qinst report [file.sddf]           # where the time went
//
// With a tool's path as its first argument it is the go command's -toolexec
// wrapper; otherwise its first argument names a command of the table below.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
)

// env holds the output streams that a command may use: stdout for data that people read, raw for
// data in the form of a file and for the output of programs, stderr for messages.
type env struct {
	stdout, raw, stderr io.Writer
	meter               *meter // on the terminal that stderr is; nil: it is none
}

// newEnv returns the environment with these streams. What is written to them takes the place of
// what a terminal shows of the progress.
func newEnv(stdout, stderr io.Writer) *env {
	e := &env{raw: stdout, stderr: stderr}
	if lab.Terminal(stderr) {
		e.meter = &meter{lab.NewProgress(stderr), metered}
		e.stderr = e.meter.Before(stderr)
	}
	e.stdout = &printable{w: &ending{e.meter, stdout}}
	return e
}

// usageError is a misuse of the command line. Its exit status is misuse instead of 1.
type usageError struct{ error }

// incomplete is the error for a command line that lacks something: what was found, what was
// expected, and a command line that has it.
func incomplete(command, found, expected, example string) error {
	return usageError{fmt.Errorf("%s: found %s, expected %s: qinst %s", command, found, expected, example)}
}

// misuse is the status of a command line that says nothing to do, or what cannot be done.
const misuse = 2

func main() {
	e := newEnv(os.Stdout, os.Stderr)
	os.Exit(status(e, dispatch(e, os.Args[1:])))
}

// status prints err and returns its exit status.
func status(e *env, err error) int {
	e.meter.end()
	var exit toolexec.Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Status // the child has already printed a message
	}
	signal, signalled := lab.EndedBy(err)
	if signal != syscall.SIGINT && signal != syscall.SIGTERM { // users know that they stopped it
		fmt.Fprintln(&printable{w: e.stderr}, "qinst:", err)
	}
	switch {
	case signalled:
		return 128 + int(signal) // as in shells: scripts stop on status 130
	case errors.As(err, new(usageError)):
		return misuse
	}
	return 1
}

// runner returns a runner whose programs use the user's input and output.
func (e *env) runner() *lab.Runner {
	return &lab.Runner{Stdin: os.Stdin, Stdout: e.raw, Stderr: e.stderr}
}
