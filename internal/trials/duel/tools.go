package duel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/trials/bench"
)

// tool is a tool, as a user asks it.
type tool struct {
	name     string
	form     form // of the program that it needs
	commands int  // that the user types
	ask      func(e *bench.Env, q *question, r *row) error
}

// question is a program to ask about.
type question struct {
	*built
	exe, file string
}

// Names of the tools of qinst.
const (
	asReport = "report"
	asWhy    = "why"
)

var tools = []tool{
	{"cpu", profiled, 2, profile("cpu")},
	{"mutex", profiled, 2, profile("mutex")},
	{"block", profiled, 2, profile("block")},
	{"trace", profiled, 1 + len(derived), traced},
	{asReport, probed, 1, reported},
	{asWhy, probed, 1, reasons},
}

// derived are the profiles that "go tool trace" makes.
var derived = []string{"net", "sync", "syscall", "sched"}

// profile asks pprof for a profile of a run.
func profile(kind string) func(e *bench.Env, q *question, r *row) error {
	return func(e *bench.Env, q *question, r *row) error {
		if err := q.run(e, "DUEL_PROFILE="+kind, "DUEL_FILE="+q.file); err != nil {
			return err
		}
		s, err := q.read(e, q.file)
		s.answer(r)
		return err
	}
}

// run runs the program, however that ends.
func (q *question) run(e *bench.Env, env ...string) error {
	cmd := exec.CommandContext(e.Ctx, q.exe, q.Args...)
	cmd.Env = append(os.Environ(), env...)
	_, err := bench.Watch(cmd)
	return errors.Join(err, e.Ctx.Err())
}

// screens are what pprof shows of a profile: by the own time of functions, and by all of it.
type screens struct{ flat, cum []bench.Entry }

// helper stands for work in some programs. It is no answer of any tool.
const helper = "main.burn"

// read asks pprof twice. Of a sample only functions of the program's own count, and of these not
// the helper: its time is that of the one that calls it.
func (q *question) read(e *bench.Env, file string) (s screens, err error) {
	own := `^main\.`
	if q.Module != "" {
		own = `^(main|` + regexp.QuoteMeta(q.Module) + `)[./]`
	}
	flags := []string{"-show=" + own, "-hide=^" + regexp.QuoteMeta(helper) + "$", "-nodecount=60"}
	if s.flat, err = bench.Top(e.Ctx, file, flags...); err == nil {
		s.cum, err = bench.Top(e.Ctx, file, append(flags, "-cum")...)
	}
	return s, err
}

// answer are the first functions in both orders, with all that have the same value.
func (s screens) answer(r *row) { r.Names, r.Above = leaders(s.flat, flat), leaders(s.cum, cum) }

func flat(e bench.Entry) float64 { return e.Flat }

func cum(e bench.Entry) float64 { return e.Cum }

// leaders are the entries that share the largest value, in their order.
func leaders(list []bench.Entry, of func(bench.Entry) float64) (names []string) {
	most := 0.
	for _, e := range list {
		most = max(most, of(e))
	}
	for _, e := range list {
		if most > 0 && of(e) == most {
			names = append(names, e.Name)
		}
	}
	return names
}

// traced asks the execution tracer for its four profiles of waits, and takes the one with most time
// in functions of the program's own.
func traced(e *bench.Env, q *question, r *row) error {
	if err := q.run(e, "DUEL_PROFILE=trace", "DUEL_FILE="+q.file); err != nil {
		return err
	}
	most := 0.
	for _, kind := range derived {
		waits, err := exec.CommandContext(e.Ctx, "go", "tool", "trace", "-pprof="+kind, q.file).Output()
		if err != nil {
			return fmt.Errorf("go tool trace: %w", err)
		}
		name := q.file + "." + kind
		if err := os.WriteFile(name, waits, 0o666); err != nil {
			return err
		}
		s, err := q.read(e, name)
		if err != nil {
			return err
		}
		sum := 0.
		for _, x := range s.flat {
			sum += x.Flat
		}
		if sum > most {
			most = sum
			s.answer(r)
		}
	}
	return nil
}

// reported asks qinst report.
func reported(e *bench.Env, q *question, r *row) error {
	if err := q.run(e, "QINST=out="+q.file); err != nil {
		return err
	}
	var page struct {
		Wall   int64 `json:"wall_ns"`
		Advice []advice.Item
	}
	if err := e.Ask(&page, "report", "-json", q.file); err != nil {
		return err
	}
	of := func(ns int64) float64 { return 100 * float64(ns) / float64(max(page.Wall, 1)) }
	for _, it := range page.Advice {
		s := said{ID: it.ID, Subject: it.Subject.Name, Text: it.Text, Remark: it.Remark}
		if g := it.Gain; g != nil {
			s.Gain = &promise{of(g.Ns), of(g.Low), of(g.High)}
		}
		r.Said = append(r.Said, s)
	}
	return nil
}

// reasons asks qinst why. If it says that no change gains anything, it has no answer.
func reasons(e *bench.Env, q *question, r *row) error {
	var a why.Answer
	args := append([]string{"why", "-json", "-o", q.file, fmt.Sprintf("-by=%d", by), q.exe}, q.Args...)
	if err := e.Ask(&a, args...); err != nil || a.Best() == nil {
		return err
	}
	for i := range a.Findings {
		f := &a.Findings[i]
		s := said{ID: f.Kind, Subject: f.Subject, Text: strings.TrimSpace(f.Change + ": " + f.Text)}
		switch {
		case !f.Promises() && i > 0:
			continue
		case !f.Promises(): // the first sentence is about it, without a number
		case f.Tried != nil:
			s.Gain = &promise{f.Tried.Pct, f.Tried.Lo, f.Tried.Hi}
		case f.Predicted != nil:
			s.Gain = &promise{f.Predicted.Pct, f.Predicted.Lo, f.Predicted.Hi}
		}
		r.Said = append(r.Said, s)
	}
	return nil
}
