package main

import (
	"cmp"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer returns an error if another user answers: in the temporary directory everybody may make a socket with the name
// of a process's.
func checkPeer(c net.Conn) error {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var who *unix.Ucred
	control := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := cmp.Or(control, err); err != nil {
		return fmt.Errorf("cannot tell who answers: %w", err)
	}
	if me := os.Geteuid(); me != 0 && int(who.Uid) != me {
		return fmt.Errorf("found that user %d answers, expected user %d", who.Uid, me)
	}
	return nil
}
