//go:build unix

package salvage_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"qinst.dev/internal/format/salvage"
)

// A trace may name anything as its ring, and anybody may put anything into /dev/shm.
// What is no ring is neither waited for nor read.
func TestNoRing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "qinst.1")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ring := filepath.Join(dir, "ring")
	if err := os.WriteFile(ring, makeRing(), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "qinst.2")
	if err := os.Symlink(ring, link); err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]string{
		fifo:                          "found p",
		link:                          "found L",
		dir:                           "expected a name that begins with qinst.",
		ring:                          "expected a name that begins with qinst.",
		filepath.Join(dir, "qinst.3"): "its ring is gone",
	} {
		path := filepath.Join(t.TempDir(), "f.sddf")
		if err := os.WriteFile(path, makeFile(named), 0o600); err != nil {
			t.Fatal(err)
		}
		soon(t, named, func() {
			f, err := salvage.Open(path)
			if err != nil {
				t.Errorf("%s: %v", named, err)
				return
			}
			defer f.Close()
			if f.Ring != "" || !strings.Contains(f.String(), want) {
				t.Errorf("%s: %v, expected %q", named, f, want)
			}
		})
	}
	soon(t, "left", func() {
		if left := salvage.Left(dir); len(left) > 0 {
			t.Errorf("found %v, expected no ring", left)
		}
	})
}

// soon fails if do has not returned within some seconds, as it has not when it waits
// for the other end of a pipe.
func soon(t *testing.T, name string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Errorf("%s: hangs", name)
	}
}
