package bottlenecks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/trials/bench"
)

// outcome is the result of a case.
type outcome struct {
	p            program
	k            kind
	rank         int // of the truth among the conclusions, from 1; 0: it is not there
	first        advice.Item
	shown, truth float64
	lo, hi       float64 // of the shown number; 0: it has no interval
	lines, width int     // of the page, until the tables begin; of these the widest
	cpu, sync    int     // ranks of the truth in the other tools' lists
	gc           float64 // the collector's share of the processor time, by the runtime's own account
}

// collects is the smallest share for which the page concludes that a program allocates much.
const collects = 0.15

// right reports whether a page leads to the truth, or away from it. A healthy program may allocate
// much, if that is so.
func (o *outcome) right() bool {
	if o.k.subject == nil {
		return o.first.ID == "" || o.first.ID == "garbage-collector" && o.gc > collects
	}
	return o.rank == 1 || o.rank == 2
}

// close reports whether the number is within 15 % of the truth, or the truth inside an interval
// that is not too wide.
func (o *outcome) close() bool {
	return within(o.shown, o.truth) || o.lo <= o.truth && o.truth <= o.hi && o.hi <= 1.5*o.lo
}

func within(shown, truth float64) bool { return shown >= 0.85*truth && shown <= 1.15*truth }

// input is how much work makes a run of a length, in ns, and what a program has to know of a
// bottleneck.
func (b *built) input(k kind, length float64) (items int, env []string) {
	return max(16, int(length/(k.wall*b.item))), []string{fmt.Sprintf("TRIAL_HOLD=%.0f", k.hold*b.item/b.calls),
		fmt.Sprintf("TRIAL_WORDS=%.0f", k.garbage*b.item/b.calls/8)}
}

// try runs a case with qinst and with the other tools.
func (s *suite) try(b *built, k kind, turn int) (o outcome, err error) {
	const length = 1.5e9 // ns
	o = outcome{p: b.program, k: k}
	items, env := b.input(k, length)
	file := filepath.Join(s.Scratch, b.name, fmt.Sprintf("%s.%d.sddf", k.name, turn))
	if err := fresh(file); err != nil {
		return o, err
	}
	t, out, err := s.start(b.probed, k.name, items, append(env, "QINST=out="+file)...)
	if err != nil {
		return o, err
	}
	o.gc = t.GC
	if err := s.read(&o, file); err != nil {
		return o, err
	}
	if k.truth != nil {
		o.truth = k.truth(t)
	}
	if !s.duel || turn > 0 {
		return o, nil
	}
	profile, trace := file+".cpu", file+".trace"
	_, plain, err := s.start(b.plain, k.name, items, append(env, "TRIAL_CPU="+profile)...)
	if err != nil {
		return o, err
	}
	if plain != out {
		return o, fmt.Errorf("printed %q with probes, %q without", out, plain)
	}
	if _, _, err = s.start(b.plain, k.name, items, append(env, "TRIAL_TRACE="+trace)...); err != nil || k.leaf == nil {
		return o, err
	}
	if o.cpu, err = s.top(k.leaf(b.program), false, profile); err != nil {
		return o, err
	}
	waits, err := exec.CommandContext(s.Ctx, "go", "tool", "trace", "-pprof=sync", trace).Output()
	if err != nil {
		return o, fmt.Errorf("go tool trace: %w", err)
	}
	if err := os.WriteFile(profile, waits, 0o666); err != nil {
		return o, err
	}
	o.sync, err = s.top(k.leaf(b.program), true, profile)
	return o, err
}

// fresh removes a trace of an earlier run: otherwise the next one gets another name.
func fresh(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// read reads the report on a trace, as data and as a page.
func (s *suite) read(o *outcome, file string) error {
	var report struct{ Advice []advice.Item }
	if err := s.Ask(&report, "report", "-json", file); err != nil {
		return err
	}
	rank := 0
	for _, it := range report.Advice {
		if it.Remark {
			continue
		}
		if rank++; rank == 1 {
			o.first = it
		}
		if o.rank == 0 && o.k.subject != nil && o.k.says(it, o.p) {
			o.rank = rank
			o.shown, o.lo, o.hi = o.k.shown(it)
		}
	}
	page, err := s.Tool("", "report", file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "qinst report -all") {
			break
		}
		o.lines++
		o.width = max(o.width, len([]rune(strings.TrimSuffix(line, "\n"))))
	}
	return nil
}

// top returns the place that pprof gives to the first of the named procedures, by its own time or,
// outside of the runtime, by all; 0 if it is not among the first twenty.
func (s *suite) top(names []string, all bool, profile string) (rank int, err error) {
	flags := []string{"-nodecount=60"}
	if all {
		flags = append(flags, "-cum")
	}
	list, err := bench.Top(s.Ctx, profile, flags...)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		if all && (strings.HasPrefix(e.Name, "runtime.") || strings.HasPrefix(e.Name, "sync.") ||
			strings.HasPrefix(e.Name, "internal/")) {
			continue
		}
		if rank++; rank > 20 {
			break
		}
		for _, want := range names {
			if strings.Contains(e.Name, want) {
				return rank, nil
			}
		}
	}
	return 0, nil
}
