//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// emulated are the programs, with their arguments.
var emulated = []struct{ module, line string }{
	{"programs", "panics"}, {"programs", "calls 200 500"}, {"programs", "loops"}, {"programs", "locks"},
	{"workloads", "imbalance -unit 5ms -vcpu 2"}, {"workloads", "fig4 -unit 5ms -vcpu 3"},
}

// arm64 builds programs with probes for linux/arm64, and runs them under qemu's user mode
// emulation.
func arm64(e *bench.Env, args []string) error {
	if err := e.Parse(e.ToolFlags(""), args); err != nil {
		return err
	}
	for _, p := range emulated {
		if err := emulate(e, p.module, strings.Fields(p.line)); err != nil {
			return fmt.Errorf("%s: %w", p.line, err)
		}
	}
	return nil
}

var (
	times = regexp.MustCompile(`(?m)^measured.*\n`)
	read  = regexp.MustCompile(`.*events read.*`)
)

// emulate compares a program's output with that on amd64.
func emulate(e *bench.Env, module string, words []string) error {
	name, args := words[0], words[1:]
	plain, probed := e.Scratch+"/"+name+".plain", e.Scratch+"/"+name
	v := lab.Variant{Name: name, Dir: "testdata/" + module, Args: []string{"./" + name}, Env: []string{"GOARCH=amd64"}}
	err := e.Build(plain, v)
	if err == nil {
		v.Wrapper, v.Env = []string{e.Qinst}, []string{"GOARCH=arm64"}
		err = e.Build(probed, v)
	}
	if err != nil {
		return err
	}
	var want []byte
	return e.Turns(1, []lab.Case{
		{Name: "amd64", Job: lab.Job{Program: plain, Args: args, Plain: true, Collect: true}},
		{Name: "arm64", Job: lab.Job{Program: "qemu-aarch64-static", Args: append([]string{probed}, args...),
			Settings: "limit=0,budget=off", Collect: true}},
	}, func(r lab.Result) error {
		got := times.ReplaceAll(r.Stdout, nil)
		if r.Case == "amd64" {
			want = got
			return nil
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("printed %q, expected %q", got, want)
		}
		report, err := e.Tool("", "report", "-all", r.Trace)
		if err == nil && !bytes.Contains(report, []byte("nothing lost, nothing degraded")) {
			err = errors.New("expected nothing lost, found:\n" + string(report))
		}
		if err == nil {
			fmt.Printf("%s: %s; nothing lost\n", name, read.Find(report))
		}
		return err
	})
}
