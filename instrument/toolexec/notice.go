package toolexec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tellLong says, when package runtime is compiled, why the build takes long: all that imports it is
// compiled, too. What this process writes the go command would keep with the package, and say again
// at each build; hence it goes to the go command's own terminal, if that has one. The command qinst
// has told it already.
func (p *process) tellLong() {
	parent := os.Getppid()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil || filepath.Base(program(parent)) != "go" || program(parentOf(parent)) == self {
		return
	}
	terminal, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/2", parent))
	if err != nil || !strings.HasPrefix(terminal, "/dev/pts/") && !strings.HasPrefix(terminal, "/dev/tty") {
		return
	}
	f, err := os.OpenFile(terminal, os.O_WRONLY|noControl, 0)
	if err != nil {
		return
	}
	defer f.Close()
	beside := ""
	if len(p.sel.Then) > 0 {
		beside = " and " + filepath.Base(p.sel.Then[0])
	}
	fmt.Fprintf(f, "qinst: compiling the standard library for these probes%s: once, a minute or two (with qinst build, selections share it)\n", beside)
}

// program is the file that a process runs, "" if that cannot be known.
func program(pid int) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return name
}

// parentOf is the process that started another one, 0 if that cannot be known.
func parentOf(pid int) (parent int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	if i := bytes.LastIndexByte(stat, ')'); i >= 0 { // of the name, which may have any bytes
		var state string
		_, _ = fmt.Sscan(string(stat[i+1:]), &state, &parent)
	}
	return parent
}
