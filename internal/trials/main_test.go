//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
)

// The list has a line for each trial, in order, and the files of results are there.
func TestList(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-h"}} {
		var out, said strings.Builder
		if got := status(args, &out, &said); got != 0 || said.String() != "" {
			t.Errorf("%q: status %d, said %q", args, got, said.String())
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != len(trials) {
			t.Errorf("%q: found %d lines of %d trials", args, len(lines), len(trials))
		}
		for i := 1; i < len(lines); i++ {
			if lines[i-1] >= lines[i] {
				t.Errorf("%q is behind %q", lines[i], lines[i-1])
			}
		}
	}
	for _, trial := range trials {
		if trial.results == "" {
			continue
		}
		if _, err := os.Stat("../../" + trial.results); err != nil {
			t.Errorf("%s: %v", trial.name, err)
		}
	}
}

// Every trial says which flags it has, and refuses others; neither builds anything.
func TestFlags(t *testing.T) {
	for _, trial := range trials {
		var out, said strings.Builder
		if got := status([]string{trial.name, "-no-such-flag"}, &out, &said); got != 2 ||
			strings.Count(said.String(), "\n") != 1 || !strings.HasPrefix(said.String(), "trials: "+trial.name+": ") {
			t.Errorf("%s: status %d, said %q, expected 2 and one line", trial.name, got, said.String())
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"matrx": "trials: found \"matrx\", expected the name of a trial (did you mean matrix?)\n",
		"bogus": "trials: found \"bogus\", expected one of arm64, bottlenecks,",
	} {
		var out, said strings.Builder
		if got := status([]string{name}, &out, &said); got != 2 || !strings.HasPrefix(said.String(), want) ||
			strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%s: status %d, said %q, expected 2 and %q", name, got, said.String(), want)
		}
	}
}
