package main

import (
	"context"
	"errors"
	"fmt"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/verify"
)

// setupVerify checks on this machine that what qinst says is true.
func setupVerify(fs *flagSet) action {
	asJSON := false
	fs.group("Form")
	fs.boolean(&asJSON, "json", "print one JSON object")
	return func(e *env, args []string) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf("verify: found %q, expected no arguments: it runs a program of its own", args[0])}
		}
		r, err := verified(fs, e)
		if errors.As(err, new(lab.Stopped)) {
			return err
		}
		if err != nil {
			return usageError{fmt.Errorf("verify: %w", err)}
		}
		if asJSON {
			err = r.WriteJSON(e.stdout)
		} else {
			err = writeText(e, r.Doc())
		}
		if status := r.Status(); err == nil && status != verify.AllHold {
			return toolexec.Exit{Status: status}
		}
		return err
	}
}

// verifyPairs are enough for intervals that are narrower than bounds on a quiet machine.
const verifyPairs = 10

// verified builds the workload with this program, and runs it.
func verified(fs *flagSet, e *env) (*verify.Result, error) {
	tmp, err := lab.MkdirTemp("", "qinst-verify-")
	if err != nil {
		return nil, fmt.Errorf("%w: expected a directory for temporary files that can be written to: set TMPDIR", err)
	}
	defer tmp.Remove()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	if err := verify.Write(string(tmp)); err != nil {
		return nil, err
	}
	at := *fs
	at.chdir = string(tmp)
	probed, err := at.variant(e, toolexec.Selection{}, []string{"."})
	if err != nil {
		return nil, err
	}
	probed.Name, probed.Env = "the workload", []string{"GOWORK=off", "GOFLAGS="}
	return verify.Run(ctx, e.runner(), verify.Options{Dir: string(tmp), Probed: probed, Pairs: verifyPairs})
}
