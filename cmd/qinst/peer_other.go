//go:build !linux

package main

import "net"

// checkPeer has nothing to check: programs are observed on Linux alone.
func checkPeer(net.Conn, int) error { return nil }
