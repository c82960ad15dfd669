package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qinst.dev/runtime/e2e"
	"qinst.dev/runtime/settings"
)

// TestRandomSettings runs a program with settings that make sense, and with such as do not. It
// prints and ends as with none; what the tool says begins with its name.
func TestRandomSettings(t *testing.T) {
	t.Parallel()
	exe := e2e.Build(t, "programs", "calls")
	run := func(dir, text string) (out, said string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, exe, "20", "0")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "QINST="+text, "TMPDIR="+dir)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		return fmt.Sprintf("%s%v", stdout.String(), err), stderr.String()
	}
	want, _ := run(t.TempDir(), "mode=off")
	rnd := rand.New(rand.NewPCG(3, 3))
	for range times("QINST_SETTINGS", 12) {
		dir := t.TempDir()
		text := randomSettings(rnd, dir)
		out, said := run(dir, text)
		if out != want && !strings.Contains(text, "out=-") { // there the trace is in the output
			t.Errorf("QINST=%.200q: found the output\n%.300s\nexpected\n%.300s", text, out, want)
		}
		for line := range strings.Lines(said) {
			if !strings.HasPrefix(line, "qinst: ") {
				t.Errorf("QINST=%.200q: said %q", text, line)
			}
		}
		if rings, _ := filepath.Glob(filepath.Join(dir, "qinst.[0-9]*")); len(rings) > 0 {
			t.Errorf("QINST=%.200q: left %v", text, rings)
		}
	}
}

// randomSettings are up to six settings, about half of them right. Rings are made in a folder.
func randomSettings(rnd *rand.Rand, dir string) string {
	list := []string{"ring=" + dir}
	one := func(words ...string) string { return words[rnd.IntN(len(words))] }
	for range rnd.IntN(7) {
		s := &settings.Table[rnd.IntN(len(settings.Table))]
		value := one(append(s.Words, s.Example, s.Default, "0", "-1", "1e9", "18446744073709551616", "NaN", "x", "",
			"10ms", "5%", "1GiB", "1/s", "%n%p%", "/", "../x")...)
		switch rnd.IntN(8) {
		case 0:
			list = append(list, one("main.*", "*", "kind:loop", "kind:sync", "main.f", "[", "id:0", "odd:*")+"="+
				one("off", "count", "time", "trace", "1e3/s", "1/s+5:count", "0", "x", ""))
		case 1:
			list = append(list, one(s.Name, "nothing", "", "=", ",", "\x01\xff", strings.Repeat("a", 5000)))
		default:
			if s.Name != "ring" {
				list = append(list, s.Name+"="+value)
			}
		}
	}
	return strings.Join(list, ",")
}
