package soak

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// state is what the system knows of a process.
type state struct {
	resident             int64 // bytes
	threads, descriptors int
	cpu                  time.Duration
}

// stateOf reads it. What is not there is 0.
func stateOf(pid int) (s state) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	text, _ := os.ReadFile(dir + "status")
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		switch n, _ := strconv.Atoi(fields[0]); name {
		case "VmRSS":
			s.resident = int64(n) << 10
		case "Threads":
			s.threads = n
		}
	}
	list, _ := os.ReadDir(dir + "fd")
	s.descriptors = len(list)
	const ticks = 100 // a second, on all of Linux's machines that Go runs on
	text, _ = os.ReadFile(dir + "stat")
	if i := strings.LastIndexByte(string(text), ')'); i >= 0 {
		if fields := strings.Fields(string(text)[i+1:]); len(fields) > 12 {
			for _, f := range fields[11:13] { // utime and stime
				n, _ := strconv.Atoi(f)
				s.cpu += time.Duration(n) * time.Second / ticks
			}
		}
	}
	return s
}
