package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A socket of this user is talked to, and one of another user is not.
func TestPeer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
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
	if err := checkPeer(c); err != nil {
		t.Error(err)
	}
	// The thread has another user for a moment, and no other has.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody, same = 65534, ^uintptr(0)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, same, nobody, same); e != 0 {
		t.Fatal(e)
	}
	err = checkPeer(c)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, same, 0, same); e != 0 {
		panic(e) // the thread would go on as nobody
	}
	if err == nil || !strings.Contains(err.Error(), "found that user 0 answers, expected user 65534") {
		t.Errorf("%v, expected that another user answers", err)
	}
}
