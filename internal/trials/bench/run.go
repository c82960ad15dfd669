package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"qinst.dev/internal/lab"
)

// BuildQuietly builds a program as a file, and returns what the go command said.
func (e *Env) BuildQuietly(exe string, v lab.Variant) (said []byte, err error) {
	var out bytes.Buffer
	r := lab.Runner{Stdout: &out, Stderr: &out}
	if err = r.Build(e.Ctx, exe, v); err != nil {
		err = fmt.Errorf("%s: %w\n%s", v.Name, err, out.Bytes())
	}
	return out.Bytes(), err
}

// Build builds a program as a file, and prints what the go command says.
func (e *Env) Build(exe string, v lab.Variant) error {
	said, err := e.BuildQuietly(exe, v)
	if err == nil {
		_, err = os.Stderr.Write(said)
	}
	return err
}

// Plain builds a package in a folder as NAME.plain in the scratch folder.
func (e *Env) Plain(name, dir, pkg string, flags ...string) (exe string, err error) {
	exe = filepath.Join(e.Scratch, name+".plain")
	return exe, e.Build(exe, lab.Variant{Name: name, Dir: dir, Flags: flags, Args: []string{pkg}})
}

// Probed builds it with probes, as NAME.
func (e *Env) Probed(name, dir, pkg string, flags ...string) (exe string, err error) {
	exe = filepath.Join(e.Scratch, name)
	return exe, e.Build(exe, lab.Variant{Name: name, Dir: dir, Wrapper: []string{e.Qinst}, Flags: flags,
		Args: []string{pkg}})
}

// Both builds it both ways.
func (e *Env) Both(name, dir, pkg string, flags ...string) (plain, probed string, err error) {
	if plain, err = e.Plain(name, dir, pkg, flags...); err == nil {
		probed, err = e.Probed(name, dir, pkg, flags...)
	}
	return plain, probed, err
}

// Turns runs each case once in each round, so that whatever the machine does meanwhile happens to
// all of them.
func (e *Env) Turns(rounds int, cases []lab.Case, each func(lab.Result) error) error {
	return (&lab.Runner{}).Run(e.Ctx, lab.Plan{Rounds: rounds, Cases: cases}, each)
}

// Seen is the observed result of a run.
type Seen struct {
	Out, Err string
	Status   int
}

// Watch runs a command. How it ends is no error.
func Watch(cmd *exec.Cmd) (s Seen, err error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return s, err
	}
	return Seen{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, nil
}

// Compete starts processes that only compute, until end.
func (e *Env) Compete(processes int) (end func(), err error) {
	ctx, stop := context.WithCancel(e.Ctx)
	var all []*exec.Cmd
	end = func() {
		stop()
		for _, c := range all {
			_ = c.Wait() // was killed
		}
	}
	for range processes {
		c := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			end()
			return nil, err
		}
		all = append(all, c)
	}
	return end, nil
}
