//go:build unix

package lab

import (
	"os/exec"
	"syscall"
)

// together makes a command and the processes that it starts a group, which ends with the context.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
