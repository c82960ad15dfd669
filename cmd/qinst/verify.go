package main

import (
	"context"
	"fmt"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/verify"
	"qinst.dev/internal/stats"
)

// verifyFlags holds the flags of the command "verify".
type verifyFlags struct {
	*flagSet
	pairs  int
	asJSON bool
}

// setupVerify compares figures of qinst with the truth on this machine.
func setupVerify(fs *flagSet) action {
	v := &verifyFlags{flagSet: fs, pairs: 12}
	fs.group("Runs")
	fs.number(&v.pairs, "n", fmt.Sprintf("make so many `pairs` of runs: with fewer than %d only counts are decided", stats.LeastPairs))
	fs.group("Form")
	fs.boolean(&v.asJSON, "json", "print one JSON object")
	return v.run
}

func (v *verifyFlags) run(e *env, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("verify: found %q, expected no arguments: it runs a program of its own", args[0])}
	}
	if v.pairs < 2 || v.pairs > mostPairs || v.pairs%2 != 0 {
		return usageError{fmt.Errorf("verify: found -n=%d, expected an even number of pairs from 2 to %d", v.pairs, mostPairs)}
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	r, err := v.verify(ctx, e)
	if err != nil {
		err = fmt.Errorf("verify: %w", err)
		if _, signalled := lab.EndedBy(err); signalled {
			return err
		}
		return usageError{err}
	}
	if v.asJSON {
		err = r.WriteJSON(e.stdout)
	} else {
		err = writeText(e, r.Doc())
	}
	if status := r.Status(); err == nil && status != verify.AllHold {
		return toolexec.Exit{Status: status}
	}
	return err
}

// verify runs the workload, which this program instruments.
func (v *verifyFlags) verify(ctx context.Context, e *env) (*verify.Result, error) {
	if err := verify.Possible(); err != nil {
		return nil, err
	}
	tmp, err := lab.MkdirTemp("", "qinst-verify-")
	if err != nil {
		return nil, fmt.Errorf("%w: expected a directory for temporary files that can be written to: set TMPDIR", err)
	}
	defer tmp.Remove()
	at := *v.flagSet
	at.chdir = string(tmp)
	probed, err := at.variant(e, toolexec.Selection{}, []string{"."})
	if err != nil {
		return nil, err
	}
	r := &lab.Runner{Stdout: e.stderr, Stderr: e.stderr} // the standard output has the table alone
	return verify.Run(ctx, r, verify.Options{Dir: string(tmp), Probed: probed, Pairs: v.pairs})
}
