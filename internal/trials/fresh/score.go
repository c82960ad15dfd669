package fresh

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
)

// score adds up how programs are judged.
type score struct {
	sick, found      int // programs with something to gain; its cause is first or second
	wrong            int // first conclusions about what gains nothing, or of another cause
	healthy, quiet   int // programs with nothing to gain; those without a conclusion
	promised, inside int // gains of right conclusions
}

// Gains, in percent of the run.
const (
	some  = 4 // a repair that gains as much is worth a conclusion
	alike = 3 // repairs that gain nearly as much are as good, and promises as near are right
	none  = 2 // a repair that gains less is worth none
)

func (s *score) text() string {
	return fmt.Sprintf("%d of %d first or second, %d first ones wrong, %d of %d healthy ones have none",
		s.found, s.sick, s.wrong, s.quiet, s.healthy)
}

// row judges the conclusions on one program.
func (s *score) row(p *program, items []advice.Item, wall int64, gains map[string]gain) []string {
	said := slices.DeleteFunc(slices.Clone(items), func(it advice.Item) bool { return it.Remark })
	best, truths := 0., []part{}
	for _, x := range p.parts() {
		best = max(best, gains[x.word].value)
	}
	var measured []string
	for _, x := range p.parts() {
		g := gains[x.word]
		measured = append(measured, fmt.Sprintf("%s %.0f %%", x.word, g.value))
		if g.value >= some && g.value >= best-alike {
			truths = append(truths, x)
		}
	}
	var first []string
	for _, it := range said[:min(3, len(said))] {
		first = append(first, it.ID+" "+it.Subject.Name)
	}
	row := []string{p.text(), strings.Join(measured, ", "), strings.Join(first, "; "), "", "", ""}
	wrong := len(said) > 0 && s.isWrong(p, &said[0], gains)
	switch {
	case len(truths) == 0:
		s.healthy++
		if row[3] = "healthy: quiet"; wrong {
			row[3] = "healthy: false"
		} else {
			s.quiet++
		}
	default:
		s.sick++
		row[3] = "missed"
		at := slices.IndexFunc(said, func(it advice.Item) bool { return right(truths, &it) != nil })
		remark := slices.ContainsFunc(items, func(it advice.Item) bool { return it.Remark && remarks(truths, &it) })
		if at < 0 && remark {
			if row[3] = "in a remark"; len(said) < 2 {
				s.found++
			}
		} else if at >= 0 {
			if row[3] = fmt.Sprint(at + 1); at < 2 {
				s.found++
			}
			s.promise(row, &said[at], wall, gains[right(truths, &said[at]).word])
		}
		if wrong {
			s.wrong++
			row[3] += ", the first is wrong"
		}
	}
	return row
}

// remarks reports whether a remark names one of some parts as work that matters.
func remarks(parts []part, it *advice.Item) bool {
	return slices.ContainsFunc(parts, func(x part) bool {
		return slices.Contains(x.ids, "less-work") && (it.ID == "less-work" || it.ID == "all-busy") &&
			strings.Contains(it.Text, "."+x.word)
	})
}

// right is the part of some whose mechanism a conclusion names.
func right(parts []part, it *advice.Item) *part {
	for i := range parts {
		if x := &parts[i]; slices.Contains(x.ids, it.ID) && (belongs(it, x.word) || it.Subject.Kind == "run") {
			return x
		}
	}
	return nil
}

// isWrong reports whether a conclusion is about a part that gains nothing, or of another cause than
// what is wrong there.
func (s *score) isWrong(p *program, it *advice.Item, gains map[string]gain) bool {
	if x := right(p.parts(), it); x != nil && (gains[x.word].value >= none || x.defect) {
		return false
	}
	x := sleeper(p, []advice.Item{*it})
	return x == nil || gains[without(x.word)].value < none
}

// sleeper is the part of whose waits the first conclusion says that the run would be shorter
// without them.
func sleeper(p *program, items []advice.Item) *part {
	for _, block := range p.blocks {
		for i := range block {
			if len(items) > 0 && !items[0].Remark && items[0].ID == "timer" && belongs(&items[0], block[i].word) {
				return &block[i]
			}
		}
	}
	return nil
}

// without is the name of a run without a part's waits.
func without(word string) string { return word + " without its waits" }

// promise compares a promised gain with the one of the repaired form.
func (s *score) promise(row []string, it *advice.Item, wall int64, g gain) {
	if it.Gain == nil {
		row[4] = "not known"
		return
	}
	of := func(ns int64) float64 { return 100 * float64(ns) / float64(max(wall, 1)) }
	s.promised++
	row[4], row[5] = fmt.Sprintf("%.0f %% (%.0f to %.0f)", of(it.Gain.Ns), of(it.Gain.Low), of(it.Gain.High)), "no"
	if of(it.Gain.Low)-alike <= g.value && g.value <= of(it.Gain.High)+alike {
		row[5] = "yes"
		s.inside++
	}
}
