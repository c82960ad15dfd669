package gains

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
)

// Findings of "qinst why" are compared with programs that are really changed: in each of them one
// procedure after another takes less, by this share in percent.
const by = 20

// closeTo is a difference of gains that no user minds, in percent of the run.
const closeTo = 3

// reasons scores what "qinst why" found.
type reasons struct {
	programs, first  int // and those whose first finding gains about as much as any
	gains, inside    int // of parts, and those in their interval or close to the gain
	confirmed, wrong int // and confirmed ones that are neither
	unfounded        int // promises of something, where nothing is gained
}

// why asks what to change in a program, and changes it.
func (t *trial) why(g program) error {
	if err := t.calibrate(&g); err != nil {
		return err
	}
	a := why.Answer{}
	file := filepath.Join(t.Scratch, "study.json")
	args := append([]string{"why", "-json", "-o", file, fmt.Sprintf("-by=%d", by), t.probed}, g.args(nil)...)
	if err := t.Ask(&a, args...); err != nil {
		return fmt.Errorf("%s: %w", g.text(), err)
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	cases, all := []lab.Case{t.plainly("base", g.args(nil), 2)}, g
	for i := range g.does {
		c := change{int(g.does[i] - 'a'), by}
		cases = append(cases, t.plainly(c.name(), g.args(&c), 2))
	}
	for i := range all.amounts { // what does the work of each
		all.amounts[i] -= all.amounts[i] * by / 100
	}
	cases = append(cases, t.plainly("main.burn", all.args(nil), 2))
	times, err := t.times(t.rounds, cases)
	if err != nil {
		return err
	}
	gained, most := map[string]float64{}, 0.
	for _, c := range cases[1:] {
		gained[c.Name] = 100 * (1 - stats.Median(times[c.Name])/stats.Median(times["base"]))
		if c.Name != "main.burn" {
			most = max(most, gained[c.Name])
		}
	}
	t.judge(&g, &a, gained, most)
	return nil
}

// name is the procedure that is changed.
func (c change) name() string { return "main." + string(rune('a'+c.proc)) }

// judge compares findings with measured gains.
func (t *trial) judge(g *program, a *why.Answer, gained map[string]float64, most float64) {
	s := &t.reasons
	s.programs++
	parts := slices.DeleteFunc(slices.Clone(a.Findings), func(f why.Finding) bool {
		_, ok := gained[f.Subject]
		return f.Kind != why.Part || !ok
	})
	switch {
	case len(parts) > 0 && gained[parts[0].Subject] >= most-closeTo, len(parts) == 0 && most < closeTo:
		s.first++
	}
	for i := range parts {
		f := &parts[i]
		real := gained[f.Subject]
		row := []string{g.text(), f.Subject, fmt.Sprintf("%.1f %%", real), "nothing", "", string(f.Verdict)}
		if f.Predicted != nil && f.Promises() {
			p := f.Predicted
			right := real >= p.Lo && real <= p.Hi || math.Abs(real-p.Pct) <= closeTo
			if s.gains++; right {
				s.inside++
			}
			if f.Verdict == why.Confirmed {
				if s.confirmed++; !right {
					s.wrong++
				}
			}
			if p.Lo > closeTo && real < 1 {
				s.unfounded++
			}
			row[3], row[4] = fmt.Sprintf("%.1f %%", p.Pct), fmt.Sprintf("%.1f to %.1f", p.Lo, p.Hi)
		}
		t.whys.Add(row)
	}
	if len(parts) == 0 {
		t.whys.Add([]string{g.text(), strings.TrimSuffix(a.First, "."), fmt.Sprintf("%.1f %% at most", most), "", "", ""})
	}
}

// reasonsSummary adds the figures that have targets.
func (t *trial) reasonsSummary() {
	s := &t.reasons
	t.whys.Add([]string{fmt.Sprintf("%d programs", s.programs), fmt.Sprintf("first right in %d", s.first), "",
		fmt.Sprintf("%d gains", s.gains), fmt.Sprintf("%d right", s.inside),
		fmt.Sprintf("%d confirmed, %d of them wrong; %d unfounded", s.confirmed, s.wrong, s.unfounded)})
}
