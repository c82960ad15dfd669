// Command qinst builds Go programs that explain their own performance, and
// reads what they recorded.
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
	"qinst.dev/lab"
)

// env is what a command may use of the process: data goes to stdout, talk to
// stderr.
type env struct {
	stdout, stderr io.Writer
}

// usageError is a misuse of the command line: exit status 2 instead of 1.
type usageError struct{ error }

func main() {
	e := &env{os.Stdout, os.Stderr}
	os.Exit(status(e, dispatch(e, os.Args[1:])))
}

// status reports err and returns the exit status that it stands for.
func status(e *env, err error) int {
	var exit toolexec.Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Status // it has said why
	}
	signal, signalled := lab.EndedBy(err)
	if signal != syscall.SIGINT && signal != syscall.SIGTERM { // people know what they did
		fmt.Fprintln(e.stderr, "qinst:", err)
	}
	switch {
	case signalled:
		return 128 + int(signal) // as shells have it: scripts look for 130 to stop, too
	case errors.As(err, new(usageError)):
		return 2
	}
	return 1
}

// runner runs what commands start, with the user's input and output.
func (e *env) runner() *lab.Runner {
	return &lab.Runner{Stdin: os.Stdin, Stdout: e.stdout, Stderr: e.stderr}
}
