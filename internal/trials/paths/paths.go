// Package paths compares the results of qinst critical and qinst predict for real runs with known
// ones.
//
// Programs whose processors are tokens sleep instead of computing, so that any number of processors
// can be measured on two: each is run on 1, 2, 4 and 8, each of these runs predicts all four, and
// its weights are compared with the formula's. Programs that call much are run at the default
// budget, and traced whole: shares of the path are compared.
package paths

import (
	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

type trial struct {
	*bench.Env
	bin string // where the programs are, with probes
}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("")
	t := trial{Env: e}
	fs.StringVar(&t.bin, "bin", "", "the `folder` of the programs, with probes; without, they are built")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if t.bin == "" {
		t.bin = e.Scratch
		if err := t.build(); err != nil {
			return err
		}
	}
	tokens, err := t.tokens()
	if err != nil {
		return err
	}
	tokens.Print()
	budgets, err := t.budgets()
	if err != nil {
		return err
	}
	budgets.Print()
	return e.Keep(tokens, budgets)
}

func (t *trial) build() error {
	for _, w := range workloads {
		if _, err := t.Probed("w-"+w.name, "testdata/workloads", "./"+w.name); err != nil {
			return err
		}
	}
	for _, c := range callers {
		if _, err := t.Probed(c.name, "testdata/instructions", "./"+c.name); err != nil {
			return err
		}
	}
	return nil
}

// job is a run of a program.
func (t *trial) job(settings, program string, args ...string) lab.Job {
	return lab.Job{Program: t.bin + "/" + program, Args: args, Settings: settings, Collect: true}
}
