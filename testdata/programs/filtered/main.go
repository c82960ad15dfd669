// Command filtered runs a program in which some system calls are not permitted, as in a container: perf_event_open, or those
// that -calls lists by their numbers.
//
//	filtered [-calls N,N] PROGRAM [ARGUMENT ...]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
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
	calls := flag.String("calls", map[string]string{"amd64": "298", "arm64": "241"}[runtime.GOARCH], "numbers of system calls that fail")
	flag.Parse()
	filter := []instruction{{0x20, 0, 0, 0}} // load the number of the call
	for text := range strings.SplitSeq(*calls, ",") {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			fmt.Fprintln(os.Stderr, "filtered:", err)
			os.Exit(2)
		}
		filter = append(filter, instruction{0x15, 0, 1, uint32(n)}, instruction{0x06, 0, 0, 0x00050000 | uint32(syscall.EPERM)}) // if it is this, it fails
	}
	filter = append(filter, instruction{0x06, 0, 0, 0x7fff0000}) // allowed
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
	err := syscall.Exec(flag.Arg(0), flag.Args(), os.Environ())
	fmt.Fprintln(os.Stderr, "filtered:", err)
	os.Exit(1)
}
