//go:build !unix

package toolexec

import (
	"os"
	"os/exec"
)

const noControl = 0

// replace runs a tool with our standard streams.
func replace(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return exitError(cmd.Run())
}
