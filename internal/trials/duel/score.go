package duel

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
	"qinst.dev/internal/trials/gains"
)

// by is how much less the parts of a program do of which qinst why predicts the gain.
const by = gains.By

// Gains, in percent of the run.
const (
	some  = 4 // a repair that gains as much is worth an answer
	alike = 3 // repairs that gain nearly as much are as good, and promises as near are right
)

// lessWork are the conclusions that a program has nothing to wait for, and less work helps.
var lessWork = []string{"all-busy", "less-work", "part"}

// truths are the parts that must change; none: the program is healthy.
func (p *program) truths(gained map[string]float64) []part {
	if p.Source == ofCases || p.Source == ofField {
		return p.Parts
	}
	best := 0.
	for _, g := range gained {
		best = max(best, g)
	}
	return slices.DeleteFunc(slices.Clone(p.Parts), func(x part) bool {
		return gained[x.Name] < some || gained[x.Name] < best-alike
	})
}

// verdict is how an answer is judged.
type verdict struct {
	healthy bool
	claims  bool // of a healthy program: the tool can say that it is
	right   bool
	given   bool // a number for the gain, which can be compared with the measured one
	inside  bool
	gain    float64 // the measured one
	known   bool    // it was measured
	promise *promise
}

// judge judges a tool's first answer. For a profile this is the first function of the program's
// own, by its own time or by all of it, or another with the same value. For qinst it is the first
// conclusion or finding: it is right if it is of a kind that the truth has, and its subject or text
// names what must change, or if its subject would be right for a profile.
func (p *program) judge(s *source, r *row, gained map[string]float64) (v verdict) {
	truths, answer := p.truths(gained), r.answer()
	byQinst := r.Tool == asReport || r.Tool == asWhy
	if len(truths) == 0 {
		quiet := answer == nil || answer.Remark || answer.ID == "part"
		return verdict{healthy: true, claims: byQinst, right: byQinst && quiet && r.Error == ""}
	}
	for i := range truths {
		x := &truths[i]
		if g, ok := gained[x.Name]; ok && (!v.known || g > v.gain) {
			v.gain, v.known = g, true
		}
	}
	names := func(x *part) bool {
		return slices.ContainsFunc(r.Names, func(name string) bool { return s.accepts(name, x.Names, true) }) ||
			slices.ContainsFunc(r.Above, func(name string) bool { return s.accepts(name, x.Names, false) })
	}
	if answer != nil {
		names = func(x *part) bool { return answer.names(s, x) }
		v.promise = answer.Gain
	}
	i := slices.IndexFunc(truths, func(x part) bool { return names(&x) })
	if v.right = i >= 0; !v.right {
		return v
	}
	if g, ok := gained[truths[i].Name]; ok && v.promise != nil && p.compares(&truths[i], answer) {
		v.gain, v.given = g, true
		v.inside = v.promise.Lo-alike <= g && g <= v.promise.Hi+alike
	}
	return v
}

// compares reports whether a promise is of a change like the measured one: less work in a part, or
// the repair of a conclusion's cause.
func (p *program) compares(x *part, s *said) bool {
	return !x.Less && (p.Source == ofGains) == (s.ID == "part")
}

// names reports whether a conclusion is about a part. One that less work helps names several, and
// the first of these counts. One without a subject is about all of the run.
func (s *said) names(src *source, x *part) bool {
	less := slices.Contains(lessWork, s.ID)
	if kind := slices.Contains(x.IDs, s.ID) || less && slices.Contains(x.IDs, "less-work"); !kind {
		return s.Subject != "" && src.accepts(s.Subject, x.Names, true)
	}
	return s.Subject == "" || src.accepts(s.Subject, x.Names, true) ||
		slices.ContainsFunc(x.Subjects, func(part string) bool {
			return strings.Contains(s.Subject, part) || !less && strings.Contains(s.Text, part)
		})
}

// total adds up the verdicts on a tool.
type total struct {
	sick, right    int
	healthy, quiet int
	known          int // gains that were measured
	given, inside  int
	unanswered     int
	seconds        []float64
	wrong          []string
}

func (t *total) add(name string, r *row, v verdict) {
	t.seconds = append(t.seconds, r.Seconds)
	t.unanswered += one(r.Error != "")
	if v.healthy {
		t.healthy, t.quiet = t.healthy+1, t.quiet+one(v.right)
		if v.claims && !v.right {
			t.wrong = append(t.wrong, name)
		}
		return
	}
	t.sick, t.right, t.known = t.sick+1, t.right+one(v.right), t.known+one(v.known)
	t.given, t.inside = t.given+one(v.given), t.inside+one(v.inside)
	if !v.right {
		t.wrong = append(t.wrong, name)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// row is the summary of a tool.
func (t *total) row(a *tool) []string {
	quiet, numbers := "no claim", "none"
	if a.form == probed {
		quiet = fmt.Sprintf("%d of %d", t.quiet, t.healthy)
		numbers = fmt.Sprintf("%d of %d, %d given", t.inside, t.known, t.given)
	}
	commands := fmt.Sprint(a.commands)
	if a.form == profiled {
		commands += " and a change of main"
	}
	return []string{a.name, fmt.Sprintf("%d of %d", t.right, t.sick), numbers, quiet,
		fmt.Sprintf("%.1f", stats.Median(t.seconds)), commands}
}

// tables judges all rows of programs: for each tool, for the first answers of qinst that are wrong,
// and for each program and tool.
func (t *trial) tables(list []program, chosen []tool) ([]bench.Table, error) {
	sum := bench.Table{Columns: []string{"asked with", "right first answers", "right numbers",
		"healthy programs left alone", "median seconds", "commands"}}
	all := bench.Table{Columns: []string{"program and tool", "", "first answer", "right", "promised", "measured",
		"seconds"}}
	lost := bench.Table{Columns: []string{"first answers of qinst that are wrong", "of", "its answer", "right are"}}
	totals := map[string]*total{}
	for i := range list {
		p := &list[i]
		src, err := parse(filepath.Join(p.Dir, p.Pkg))
		if err != nil {
			return nil, err
		}
		gained := t.rows.find(p.Name, repaired).Gained
		var right []string
		verdicts := map[string]verdict{}
		for _, a := range chosen {
			r := t.rows.find(p.Name, a.name)
			v := p.judge(src, r, gained)
			verdicts[a.name] = v
			if totals[a.name] == nil {
				totals[a.name] = &total{}
			}
			totals[a.name].add(p.Name, r, v)
			if v.right {
				right = append(right, a.name)
			}
			all.Rows = append(all.Rows, line(p, r, v))
		}
		for _, a := range chosen {
			if v := verdicts[a.name]; a.form == probed && !v.right {
				others := cmp.Or(strings.Join(right, ", "), "none")
				if v.healthy {
					others = "it is healthy"
				}
				lost.Rows = append(lost.Rows, []string{p.Name, a.name, t.rows.find(p.Name, a.name).first(), others})
			}
		}
	}
	for _, a := range chosen {
		sum.Rows = append(sum.Rows, totals[a.name].row(&a))
	}
	return []bench.Table{sum, lost, all}, nil
}

// line is the row of an answer.
func line(p *program, r *row, v verdict) []string {
	l := []string{p.Name, r.Tool, r.first(), "no", "none", "", fmt.Sprintf("%.1f", r.Seconds)}
	switch {
	case v.healthy && !v.claims:
		l[3] = "healthy: no claim"
	case v.healthy && v.right:
		l[3] = "healthy: quiet"
	case v.healthy:
		l[3] = "healthy: false"
	case v.right:
		l[3] = "yes"
	}
	if v.promise != nil {
		l[4] = fmt.Sprintf("%.0f %% (%.0f to %.0f)", v.promise.Pct, v.promise.Lo, v.promise.Hi)
		switch {
		case v.given && v.inside:
			l[4] += ": right"
		case v.given:
			l[4] += ": wrong"
		default:
			l[4] += ": of another change"
		}
	}
	if v.known {
		l[5] = fmt.Sprintf("%.0f %%", v.gain)
	}
	return l
}
