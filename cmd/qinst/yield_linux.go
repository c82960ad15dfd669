package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowest is the priority of a process that gets what others leave.
const lowest = 19

// yieldProcessors leaves the processors to programs that need them. Threads that are made later are
// as those that make them.
func yieldProcessors() {
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, task := range list {
		if id, err := strconv.Atoi(task.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, lowest)
		}
	}
}
