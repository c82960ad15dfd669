package lab

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Shell runs a command of the shell, and returns its output. None of the processes that it starts
// outlives the context.
func Shell(ctx context.Context, command string) (output []byte, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	together(cmd)
	cmd.WaitDelay = patience // if a process left the others and keeps the output open
	if output, err = cmd.CombinedOutput(); err != nil {
		return output, fmt.Errorf("%s: %w%s", command, err, strings.TrimRight("\n"+string(output), "\n"))
	}
	return output, nil
}
