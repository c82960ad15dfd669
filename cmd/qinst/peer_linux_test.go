package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A process of this user that was asked is talked to. Another one, and one whose socket is another
// user's, is not.
func TestPeer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := checkPeer(c, os.Getpid()); err != nil {
		t.Error(err)
	}
	if err := checkPeer(c, os.Getppid()); err == nil || !strings.Contains(err.Error(), "expected process") {
		t.Errorf("%v, expected that another process answers", err)
	}
}

// Root takes no answer from another user's process.
func TestPeersUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
	// A socket is of the user who listens. The thread is another one for that moment.
	const nobody, same = 65534, ^uintptr(0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	become := func(user uintptr) {
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, same, user, same); e != 0 {
			panic(e) // the thread would go on as another user
		}
	}
	become(nobody)
	l, err := net.Listen("unix", fmt.Sprintf("@qinst-peer-%d", os.Getpid())) // in no directory
	become(0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := checkPeer(c, os.Getpid()); err == nil ||
		!strings.Contains(err.Error(), "found that user 65534 answers, expected user 0") {
		t.Errorf("%v, expected that another user answers", err)
	}
}
