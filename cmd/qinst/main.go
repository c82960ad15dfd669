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
)

// env is what a command may use of the process: data goes to stdout, talk to
// stderr.
type env struct {
	stdout, stderr io.Writer
}

// command is one row of the table that main dispatches on and that the help
// page is printed from.
type command struct {
	name, args, summary string
	run                 func(e *env, args []string) error
}

// usageError is a misuse of the command line: exit status 2 instead of 1.
type usageError struct{ error }

func main() {
	e := &env{os.Stdout, os.Stderr}
	err := dispatch(e, os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "qinst:", err)
	if errors.As(err, new(usageError)) {
		os.Exit(2)
	}
	os.Exit(1)
}
