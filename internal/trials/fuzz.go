//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path"
	"strings"

	"qinst.dev/internal/trials/bench"
)

// fuzz runs each fuzz target, those of the decoders and one for each command.
func fuzz(e *bench.Env, args []string) error {
	fs := e.Flags("[TIME [PART OF A PACKAGE'S PATH]]")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	long, part := "60s", fs.Arg(1)
	if fs.NArg() > 0 {
		long = fs.Arg(0)
	}
	found, err := exec.CommandContext(e.Ctx, "git", "grep", "-o", "^func Fuzz[A-Za-z]*", "--", "*_test.go").Output()
	if err != nil {
		return fmt.Errorf("git grep: %w", err)
	}
	for line := range strings.Lines(string(found)) {
		file, target, _ := strings.Cut(strings.TrimSpace(line), ":func ")
		dir := "./" + path.Dir(file)
		if !strings.Contains(dir, part) {
			continue
		}
		fmt.Println("==", dir, target)
		out, err := exec.CommandContext(e.Ctx, "go", "test", dir, "-run=^$", "-fuzz=^"+target+"$", "-fuzztime="+long,
			"-fuzzminimizetime=10x").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s: %w\n%s", dir, target, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		fmt.Println(lines[len(lines)-1])
	}
	return nil
}
