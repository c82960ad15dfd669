//go:build unix

package toolexec

import (
	"os"
	"os/exec"
	"syscall"
)

// noControl keeps a terminal that is opened from becoming that of the process.
const noControl = syscall.O_NOCTTY

// replace runs a tool in this process's place.
func replace(args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, args, os.Environ())
}
