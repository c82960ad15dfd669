package lab

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
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

// Load is a command of the shell that a program serves.
type Load struct {
	Took   time.Duration
	Output []byte
}

// Run runs the command, whose failure is that of the flag -load.
func (l *Load) Run(ctx context.Context, command string) (err error) {
	began := time.Now()
	if l.Output, err = Shell(ctx, command); err != nil {
		return fmt.Errorf("-load: %w", err)
	}
	l.Took = time.Since(began)
	return nil
}
