package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trials/bench"
	"qinst.dev/sddf/spec"
)

// The seeds of maps and the addresses of types move a count by up to half a per cent, so that the
// mean of several is taken. The plain count is part of each number, and has to be the best.
const (
	repeats      = 4
	plainRepeats = 8
)

// counts counts the instructions of programs.
func (t *trial) counts(set []program) (bench.Table, error) {
	table := bench.Table{Columns: []string{"instructions", "plain, M"}}
	for _, s := range counted {
		table.Columns = append(table.Columns, s.name+", %")
	}
	table.Columns = append(table.Columns, "single counts are apart by, points")
	for _, p := range set {
		fmt.Fprintln(os.Stderr, "counting", p.name)
		row, err := t.countRow(p)
		if err != nil {
			return table, fmt.Errorf("%s: %w", p.name, err)
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// countRow has what each setting costs, and how far single counts are apart at most.
func (t *trial) countRow(p program) ([]string, error) {
	plain, apart, err := t.count(p, nil, plainRepeats)
	if err != nil {
		return nil, err
	}
	row := []string{p.what, fmt.Sprintf("%.1f", float64(plain)/1e6)}
	for _, s := range counted {
		mean, differ, err := t.count(p, &s, repeats)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		row = append(row, fmt.Sprintf("%+.1f", percent(mean-plain, plain)))
		apart = max(apart, differ)
	}
	return append(row, fmt.Sprintf("%.2f", percent(apart, plain))), nil
}

func percent(part, whole int64) float64 { return 100 * float64(part) / float64(whole) }

// count returns the mean number of instructions between a program's two lengths, and how far the
// counts are apart. Without a setting the program is plain.
func (t *trial) count(p program, s *setting, repeats int) (mean, apart int64, err error) {
	var counts []int64
	for range repeats {
		short, err := t.valgrind(p, s, p.short)
		if err != nil {
			return 0, 0, err
		}
		long, err := t.valgrind(p, s, p.long)
		if err != nil {
			return 0, 0, err
		}
		counts = append(counts, long-short)
		mean += (long - short) / int64(repeats)
	}
	return mean, slices.Max(counts) - slices.Min(counts), nil
}

var refs = regexp.MustCompile(`I +refs: +([\d,]+)`)

// errCounted is the error of a run that counted activations that should have been traced, because
// the writer came too late: its instructions are not comparable.
var errCounted = errors.New("found activations counted, expected all traced")

// valgrind runs a program under cachegrind, again if the machine was too busy to trace everything.
func (t *trial) valgrind(p program, s *setting, n int) (count int64, err error) {
	for range 5 {
		if count, err = t.valgrindOnce(p, s, n); !errors.Is(err, errCounted) {
			break
		}
	}
	return count, err
}

// valgrindOnce leaves little more to chance than the seeds of maps, and the times at which the
// recorder's threads do their work: one processor, no garbage collection, valgrind's fair turns.
func (t *trial) valgrindOnce(p program, s *setting, n int) (count int64, err error) {
	j := t.job(p, s, n)
	j.Args = append([]string{"--tool=cachegrind", "--cache-sim=no", "--fair-sched=yes",
		"--cachegrind-out-file=/dev/null", j.Program}, j.Args...)
	j.Program = "valgrind"
	j.Env = []string{"GOMAXPROCS=1", "GOGC=off"}
	err = t.Turns(1, []lab.Case{{Name: p.name, Job: j}}, func(r lab.Result) error {
		if s != nil && s.qinst == everything {
			if err := allTraced(r.Trace); err != nil {
				return err
			}
		}
		if count, err = refsOf(r.Stderr); err != nil {
			return err
		}
		return t.same(p, n, r.Stdout)
	})
	return count, err
}

// refsOf finds the number of instructions in cachegrind's output.
func refsOf(said []byte) (int64, error) {
	m := refs.FindSubmatch(said)
	if m == nil {
		return 0, fmt.Errorf("found no count in what valgrind says: %s", said)
	}
	return strconv.ParseInt(strings.ReplaceAll(string(m[1]), ",", ""), 10, 64)
}

// job is a run of a program with a setting.
func (t *trial) job(p program, s *setting, n int) lab.Job {
	j := lab.Job{Program: filepath.Join(t.plain, p.name), Args: []string{strconv.Itoa(n)}, Plain: s == nil,
		Collect: true}
	if s != nil {
		j.Program, j.Settings, j.NoTrace = filepath.Join(t.probed, p.name), s.qinst, !s.traces
	}
	return j
}

// allTraced returns errCounted unless, but for one of a thousand, all activations were traced.
func allTraced(file string) error {
	t, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer t.Close()
	var hits, traced uint64
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointProc && p.Flags&(spec.FlagDerived|spec.FlagSmall) == 0 {
			hits += p.Hits
			traced += p.Traced
		}
	}
	if hits == 0 || traced < hits-hits/1000 {
		return fmt.Errorf("%w: %d of %d were", errCounted, traced, hits)
	}
	return nil
}

// same has an error if a run did not print what the first one of that length did, because then
// it did something else.
func (t *trial) same(p program, n int, out []byte) error {
	key := fmt.Sprint(p.name, " ", n)
	if first, ok := t.printed[key]; ok && !bytes.Equal(first, out) {
		return fmt.Errorf("%s printed %q, expected %q", key, out, first)
	}
	t.printed[key] = out
	return nil
}
