package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
)

// TestHang: what goroutines wait for is known while the program hangs, and after it was killed.
func TestHang(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hang.sddf")
	cmd := exec.Command(e2e.Build(t, "programs", "hang"), "alive")
	cmd.Env = append(os.Environ(), "QINST=out="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	const most = 30 * time.Second
	text := ""
	for began := time.Now(); !strings.Contains(text, "take locks in one order"); {
		if time.Since(began) > most {
			t.Fatalf("found no cycle of locks in\n%s", text)
		}
		time.Sleep(200 * time.Millisecond)
		out, _ := exec.Command("qinst", "ctl", strconv.Itoa(cmd.Process.Pid), "why").CombinedOutput()
		text = string(out)
	}
	for _, want := range []string{"main.(*bank).back has main.(*bank).b (main.go:23) and waits for main.(*bank).a (main.go:26)",
		"main.(*bank).forth has main.(*bank).a (main.go:15) and waits for main.(*bank).b (main.go:18)"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("found\n%s\nexpected %q", text, want)
		}
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	ring := tr.File.Salvaged.Ring
	defer os.Remove(ring)
	defer tr.Close()
	p, err := profile.New(tr)
	if err != nil || len(p.Chains) != 1 {
		t.Fatalf("found the chains %+v, %v, expected one", p.Chains, err)
	}
	if c := &p.Chains[0]; !c.Cycle || len(c.Links) != 2 || c.Waiting != 3 {
		t.Errorf("found %+v, expected a cycle of two, and three that wait", c)
	}
}
