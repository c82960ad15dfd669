package main

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// checkPeer returns an error if another process or another user answers than the one that was
// asked. In the temporary directory any user can make a socket with the name of a process's. Root
// is refused too: it would print any user's text as the program's.
func checkPeer(c net.Conn, pid int) error {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var who *unix.Ucred
	control := raw.Control(func(fd uintptr) {
		who,
			err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := cmp.Or(control, err); err != nil {
		return fmt.Errorf("cannot tell who answers: %w", err)
	}
	if int(who.Pid) != pid {
		return fmt.Errorf("found that process %d answers, expected process %d; of a program in another pid namespace ask there (nsenter, docker exec)", who.Pid, pid)
	}
	owner, err := ownerOf(pid)
	if err != nil {
		return fmt.Errorf("cannot tell whose process %d is: %w", pid, err)
	}
	// The system remembers who began to listen: root, of a program that has given root up since.
	if user := int(who.Uid); user != owner && user != 0 {
		return fmt.Errorf("found that user %d answers, expected user %d, whose process %d is", user, owner, pid)
	}
	if me := os.Geteuid(); me != 0 && owner != me {
		return fmt.Errorf("found a process of user %d, expected one of user %d", owner, me)
	}
	return nil
}

// ownerOf is the user whose rights a process has.
func ownerOf(pid int) (int, error) {
	path := fmt.Sprintf("/proc/%d/status", pid)
	status, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	_, line, _ := strings.Cut(string(status), "\nUid:")
	users := strings.Fields(line) // real, effective and more
	if len(users) < 2 {
		return 0, fmt.Errorf("%s: found no line Uid, expected one", path)
	}
	return strconv.Atoi(users[1])
}
