package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// Both ends of a connection may be in the program, as those between a server and its clients in a
// test. A goroutine that reads from one end waits for the one that writes to the other, so readers
// of the trace must know which ends belong together. The addresses of the two sockets show it. They
// are asked for once, when the program first reads from a descriptor or writes to it. System calls
// that write to it have the number of their end after that.

const (
	qinstNoEnd    = ^uint32(0) // of a descriptor whose other end is not known
	qinstMostEnds = 1<<24 - 1  // an event's argument holds no more
	qinstInet     = 2          // AF_INET
	qinstInet6    = 10         // AF_INET6
)

var qinstNEnds atomic.Uint32 // so far

// qinstUses notes that the running goroutine is about to read from a descriptor, or to write to it
// in its next system call.
// Context: hook.
func qinstUses(pd *pollDesc, mode int) {
	if qinstStates == 0 {
		return
	}
	end := atomic.Load(&pd.qinstEnd)
	if end == 0 {
		end = qinstFindEnd(pd)
	}
	if gp := getg(); mode == 'w' && end != qinstNoEnd {
		gp.m.qinstEnd, gp.m.qinstWriter = end, gp.goid
	}
}

// qinstFindEnd gives a descriptor its number, and records its connection: the keys of both ends
// differ in their lowest bit.
// Context: hook.
func qinstFindEnd(pd *pollDesc) uint32 {
	end, key := qinstNoEnd, qinstKeyOf(pd.fd)
	if key != 0 {
		if end = qinstNEnds.Add(1); end > qinstMostEnds {
			end = qinstNoEnd
		}
	}
	// A goroutine reads while another one writes; one of them is first.
	if !atomic.Cas(&pd.qinstEnd, 0, end) {
		return atomic.Load(&pd.qinstEnd)
	}
	if end != qinstNoEnd {
		qinstPut3(qinstNow(), qinstCurrent(), qinstEvEnd<<24|uint64(end),
			uint64(uintptr(unsafe.Pointer(&pd.rg)))&(1<<qinstAddrBits-1), key)
	}
	return end
}

// qinstSocketName is an address of a socket as the system has it.
type qinstSocketName struct {
	family uint16
	port   uint16
	four   uint32
	six    [2]uint64 // of version 6
	rest   [12]uint64
}

// qinstKeyOf is the key of a descriptor's connection, 0 if it is none of the Internet's.
// Context: hook.
func qinstKeyOf(fd uintptr) uint64 {
	local, remote := qinstNamed(qinstSysGetsockname, fd), qinstNamed(qinstSysGetpeername, fd)
	switch {
	case local == 0 || remote == 0 || local == remote:
		return 0
	case local < remote:
		return qinstMixed(local, remote) &^ 1
	}
	return qinstMixed(remote, local) | 1
}

// qinstNamed is a number for an address of a socket, 0 if there is none. A socket of version 6 may
// have a peer of version 4.
// Context: hook.
func qinstNamed(call, fd uintptr) uint64 {
	var name qinstSocketName
	size := uint32(unsafe.Sizeof(name))
	_, _, errno := linux.Syscall6(call, fd, uintptr(unsafe.Pointer(&name)), uintptr(unsafe.Pointer(&size)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	high, low := uint64(0), uint64(0)
	switch name.family {
	case qinstInet:
		low = uint64(name.four)<<32 | 0xffff0000 // as in an address of version 6
	case qinstInet6:
		high, low = name.six[0], name.six[1]
	default:
		return 0
	}
	return qinstMixed(qinstMixed(high, low), uint64(name.port)) | 1
}

// qinstMixed makes one number of two that differ.
// Context: hook.
//
//go:nosplit
func qinstMixed(a, b uint64) uint64 {
	h := (a ^ b<<23 ^ b>>41) * 0xff51afd7ed558ccd
	h ^= h >> 33
	h = (h ^ b) * 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}

// qinstWritesTo is the end to which the running goroutine writes in the system call that begins, 0
// if it does not, or that is not known.
// Context: hook.
//
//go:nosplit
func qinstWritesTo() uint64 {
	mp := getg().m
	end := mp.qinstEnd
	if mp.qinstEnd = 0; end != 0 && mp.qinstWriter != qinstCurrent() {
		end = 0
	}
	return uint64(end)
}
