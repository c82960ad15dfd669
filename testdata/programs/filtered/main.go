// Command filtered runs a program, its arguments, in which some system calls fail as in a container: perf_event_open is not
// permitted.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// instruction is one of a filter's (struct sock_filter).
type instruction struct {
	code     uint16
	yes, no  uint8
	operands uint32
}

func main() {
	calls := map[string]uint32{"amd64": 298, "arm64": 241}
	filter := []instruction{
		{0x20, 0, 0, 0},                                  // load the number of the call
		{0x15, 0, 1, calls[runtime.GOARCH]},              // perf_event_open?
		{0x06, 0, 0, 0x00050000 | uint32(syscall.EPERM)}, // fails
		{0x06, 0, 0, 0x7fff0000},                         // allowed
	}
	program := struct {
		n      uint16
		filter *instruction
	}{uint16(len(filter)), &filter[0]}
	const setNoNewPrivileges, setSeccomp, byFilter = 38, 22, 2
	for _, args := range [][2]uintptr{{setNoNewPrivileges, 1}, {setSeccomp, byFilter}} {
		third := uintptr(0)
		if args[0] == setSeccomp {
			third = uintptr(unsafe.Pointer(&program))
		}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, args[0], args[1], third, 0, 0, 0); e != 0 {
			fmt.Fprintln(os.Stderr, "filtered: no filter:", e)
			os.Exit(3)
		}
	}
	err := syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	fmt.Fprintln(os.Stderr, "filtered:", err)
	os.Exit(1)
}
