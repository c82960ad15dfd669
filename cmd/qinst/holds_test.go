package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/analysis/profile"
)

// TestHolds compares what a program measures of its own lock with the profile at the default budget, while a
// small procedure takes far more than that to count. Its operations and records are few, so that all of
// them are written.
func TestHolds(t *testing.T) {
	t.Parallel()
	program := buildProbed(t, "programs", "holds")
	tr, out := runTraced(t, exec.Command(program), "QINST=budget=5%")
	said := map[string]int64{}
	for line := range strings.Lines(out) {
		var name string
		var n int64
		if _, err := fmt.Sscan(line, &name, &n); err == nil {
			said[name] = n
		}
	}
	for _, p := range tr.Points {
		want, about := said["uses"], strings.HasPrefix(p.Name, "main.(*registry).mu")
		if p.Name == "tick" {
			want, about = said["records"], true
		}
		if about && (p.Hits != uint64(want) || p.Traced != p.Hits) {
			t.Errorf("%s: %d hits, %d traced, expected %d", p.Name, p.Hits, p.Traced, want)
		}
		if p.Name == "main.fib" && p.Traced > p.Hits/10 {
			t.Errorf("%d of %d calls of main.fib were traced", p.Traced, p.Hits)
		}
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Objects {
		if o.Name != "main.(*registry).mu" {
			continue
		}
		if took := float64(o.Hold) / float64(said["hold"]); o.Holds < said["uses"]*99/100 || took < 0.97 || took > 1.1 {
			t.Errorf("%d holds, %.3f of the time that the program measured, expected %d", o.Holds, took, said["uses"])
		}
		return
	}
	t.Error("the lock is no object of the profile")
}
