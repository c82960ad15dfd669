//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// number reads a command line that may have one number.
func number(e *bench.Env, what string, usual int, args []string) (n int, err error) {
	fs := e.Flags("[" + what + "]")
	if err := e.Parse(fs, args); err != nil || fs.NArg() == 0 {
		return usual, err
	}
	if n, err = strconv.Atoi(fs.Arg(0)); err != nil || n < 1 || fs.NArg() > 1 {
		return 0, bench.Usage("found %q, expected %s: a number", fs.Args(), what)
	}
	return n, nil
}

// goTest runs tests of a package at a length that go test ./... does not have.
func goTest(dir, pattern, timeout string, env []string, args ...string) error {
	r := lab.Runner{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	return r.Go("test", lab.Variant{Flags: []string{"-count=1", "-v", "-timeout=" + timeout, "-run=" + pattern, dir},
		Args: args, Env: env})
}

// hostile flips single bits of real traces, each of which must be reported, and runs every command
// on mutated ones, which must neither panic nor take long: the same ones every time, but for
// QINST_SEED.
func hostile(e *bench.Env, args []string) error {
	n, err := number(e, "FLIPS", 10_000, args)
	if err != nil {
		return err
	}
	const traces = 13
	each := n/traces + 1
	return goTest("./cmd/qinst", "^(TestFlippedBits|TestMutatedFiles)$", "3h",
		[]string{fmt.Sprint("QINST_FLIPS=", each), fmt.Sprint("QINST_MUTATIONS=", each)})
}

// kill kills a traced program at random times, and compares the recovered trace with the program's
// own counts.
func kill(e *bench.Env, args []string) error {
	n, err := number(e, "KILLS", 1000, args)
	if err != nil {
		return err
	}
	return goTest("./runtime/e2e", "^TestKilled$", "90m", []string{fmt.Sprint("QINST_KILLS=", n)})
}

// storm counts calls in line while goroutines are stopped asynchronously as often as can be. Each
// site makes this number of calls in each of three goroutines.
func storm(e *bench.Env, args []string) error {
	n, err := number(e, "CALLS", 250_000_000, args)
	if err != nil {
		return err
	}
	return goTest("./runtime/e2e", "^TestStorm$", "2h", nil, "-storm", strconv.Itoa(n))
}

// thorough runs all tests with all of their random cases: go test ./... tries a tenth.
func thorough(e *bench.Env, args []string) error {
	if err := e.Parse(e.Flags(""), args); err != nil {
		return err
	}
	r := lab.Runner{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	return r.Go("test", lab.Variant{Flags: []string{"-count=1", "-timeout=60m", "./..."},
		Env: []string{"QINST_CASES=all"}})
}
