// Package duel asks several tools what to change in programs whose bottleneck is known: the
// profiles of package runtime/pprof, the execution tracer, "qinst report" and "qinst why". It
// compares first answers with the truth, promised gains with those of repaired forms, and how long
// a user waits.
//
// The programs are drawn from those of the trials bottlenecks, cases, fresh and gains. The rules by
// which answers are right give every tool the benefit of the doubt: see score.go and source.go.
package duel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// patience is how long a tool may take for a program.
const patience = 10 * time.Minute

// trial is its state.
type trial struct {
	*bench.Env
	dir    string // of rows, and of drawn programs
	rounds int
	rows   *rows
}

// Run is the trial.
func Run(e *bench.Env, args []string) (err error) {
	fs := e.ToolFlags("")
	t := &trial{Env: e}
	n := fs.Int("n", 30, "how many `programs`")
	seed := fs.Uint64("seed", 1, "draws them")
	only := fs.String("tools", "", "`names` of tools, with commas between; without, all")
	fs.IntVar(&t.rounds, "rounds", 5, "how often repaired forms are run")
	fs.StringVar(&t.dir, "dir", "", "the `folder` of answers: the same command goes on with those that it has\n"+
		"(default: one of the seed and the number in the folder for temporary files)")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	chosen, err := bench.Choose(tools, func(a tool) string { return a.name }, bench.Words(*only))
	if err != nil {
		return err
	}
	if t.dir == "" {
		t.dir = filepath.Join(os.TempDir(), fmt.Sprintf("qinst-duel-%d-%d", *seed, *n))
	}
	if err := os.MkdirAll(t.dir, 0o777); err != nil {
		return err
	}
	if err := e.LeaveWorkspace(); err != nil {
		return err
	}
	for _, name := range []string{"pprof", "trace"} { // they are compiled when they are used first
		if out, err := exec.CommandContext(e.Ctx, "go", "tool", "-n", name).CombinedOutput(); err != nil {
			return fmt.Errorf("go tool %s: %w\n%s", name, err, out)
		}
	}
	list, err := t.programs(*seed, *n)
	if err != nil {
		return err
	}
	if t.rows, err = open(filepath.Join(t.dir, "rows.json")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.rows.close()) }()
	for i := range list {
		if err := t.program(fmt.Sprintf("%d of %d", i+1, len(list)), &list[i], chosen); err != nil {
			return fmt.Errorf("%s: %w", list[i].Name, err)
		}
	}
	tables, err := t.tables(list, chosen)
	if err != nil {
		return err
	}
	for _, table := range tables {
		table.Print()
	}
	if e.Updates() {
		if err := writePage(pageFile, tables); err != nil {
			return err
		}
	}
	return e.Keep(tables...)
}

// program asks all tools about one, and measures what its repairs gain.
func (t *trial) program(place string, p *program, chosen []tool) error {
	b := &built{trial: t, program: p}
	for _, v := range p.Vars { // others do not look at these variables
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if t.rows.find(p.Name, repaired) == nil {
		gained, err := b.gains()
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s, %s, repairs gain %.1f %%\n", place, p.Name, slices.Collect(maps.Values(gained)))
		if err := t.rows.add(row{Program: p.Name, Tool: repaired, Gained: gained}); err != nil {
			return err
		}
	}
	for _, a := range chosen {
		if t.rows.find(p.Name, a.name) != nil {
			continue
		}
		r, err := b.ask(&a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s, %s, %s, %.1f s: %s\n", place, p.Name, a.name, r.Seconds, r.first())
		if err := t.rows.add(r); err != nil {
			return err
		}
	}
	return nil
}

// gains are those of repairs of its parts, in percent of the run.
func (b *built) gains() (map[string]float64, error) {
	gained := map[string]float64{}
	cases := []lab.Case{{Name: ""}}
	for _, x := range b.Parts {
		if x.Args != nil {
			cases = append(cases, lab.Case{Name: x.Name, Job: lab.Job{Args: x.Args}})
		}
	}
	if len(cases) == 1 {
		return gained, nil
	}
	exe, err := b.exe(plain)
	if err != nil {
		return nil, err
	}
	cases[0].Args = b.Args
	for i := range cases {
		j := &cases[i].Job
		j.Program, j.Plain, j.Collect = exe, true, true
	}
	times := map[string][]float64{}
	err = b.Turns(b.rounds, cases, func(r lab.Result) error {
		d, read := r.Wall, ran[b.Source]
		if read != nil {
			var err error
			if d, err = read(r.Stdout); err != nil {
				return err
			}
		}
		times[r.Case] = append(times[r.Case], float64(d))
		return nil
	})
	for _, c := range cases[1:] {
		if err == nil {
			gained[c.Name] = 100 * (1 - stats.Median(times[c.Name])/stats.Median(times[""]))
		}
	}
	return gained, err
}

// ask asks a tool. A tool that fails has no answer.
func (b *built) ask(a *tool) (row, error) {
	r := row{Program: b.Name, Tool: a.name}
	exe, err := b.exe(a.form)
	if err != nil {
		return r, err
	}
	ctx, stop := context.WithTimeout(b.Ctx, patience)
	defer stop()
	env := *b.Env
	env.Ctx = ctx
	began := time.Now()
	err = a.ask(&env, &question{built: b, exe: exe, file: filepath.Join(b.Scratch, b.file()+"."+a.name)}, &r)
	r.Seconds = (time.Since(began) + b.took[a.form]).Seconds()
	if err != nil {
		r.Error = err.Error()
	}
	return r, b.Ctx.Err()
}
