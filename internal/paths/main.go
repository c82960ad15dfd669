//go:build linux

// Command paths compares what qinst critical and qinst predict say of real runs with what is known.
//
// Programs whose processors are tokens sleep instead of computing, so that any number of processors can be measured on two: each is run on 1, 2, 4 and 8,
// each of these runs predicts all four, and its weights are compared with the formula's. Programs that call much are run at the default budget, and
// traced whole: shares of the path are compared.
//
//	paths -qinst PATH -bin DIR [-kept FILE [-update]]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"

	"qinst.dev/internal/kept"
	"qinst.dev/internal/lab"
)

func main() {
	s := &suite{}
	flag.StringVar(&s.qinst, "qinst", "", "the tool")
	flag.StringVar(&s.bin, "bin", "", "where the programs are, with probes; traces go there too")
	file := flag.String("kept", "", "the file that keeps results")
	update := flag.Bool("update", false, "keep what is measured in the file")
	flag.Parse()
	var stop func()
	s.ctx, stop = lab.Signals(context.Background())
	defer stop()
	if err := s.run(*file, *update); err != nil {
		fmt.Fprintln(os.Stderr, "paths:", err)
		os.Exit(1)
	}
}

type suite struct {
	ctx        context.Context
	qinst, bin string
}

func (s *suite) run(file string, update bool) error {
	tokens, err := s.tokens()
	if err != nil {
		return err
	}
	tokens.Print()
	budgets, err := s.budgets()
	if err != nil {
		return err
	}
	budgets.Print()
	if update {
		return kept.Keep(file, []kept.Table{tokens, budgets})
	}
	return nil
}

// record runs a program and returns its trace and what it printed.
func (s *suite) record(settings, program string, args ...string) (file string, out []byte, err error) {
	file = s.bin + "/" + program + ".sddf"
	if err := os.RemoveAll(file); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(s.ctx, s.bin+"/"+program, args...)
	cmd.Env = append(os.Environ(), "QINST=out="+file+","+settings)
	cmd.Stderr = os.Stderr
	if out, err = cmd.Output(); err != nil {
		err = fmt.Errorf("%s: %w", program, err)
	}
	return file, out, err
}

// ask reads what a command of the tool says.
func (s *suite) ask(answer any, args ...string) error {
	cmd := exec.CommandContext(s.ctx, s.qinst, args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		return fmt.Errorf("qinst %q: %w", args, err)
	}
	return nil
}
