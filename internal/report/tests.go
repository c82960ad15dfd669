package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
	"qinst.dev/internal/report/doc"
)

// Tested is a run of a package's tests. Times are in ns since 1970.
type Tested struct {
	Package  string
	From, To int64
	Busy     int64 // processor time
	Tests    []Test
}

// Test is one of them; its subtests are parts of it.
type Test struct {
	Name     string
	From, To int64
}

// NewTested is the run of which a trace began at a time, by its steps.
func NewTested(program string, began int64, p *steps.Program) Tested {
	t := Tested{Package: program, From: began, To: began + int64(p.End)}
	for id := range steps.StepID(p.Steps.Len()) {
		t.Busy += p.Step(id).Work
	}
	for i := range p.Requests {
		q := &p.Requests[i]
		if q.Kind != steps.RequestTest {
			continue
		}
		t.Package = strings.TrimSuffix(names.PackageOf(q.Name), "_test") // those of an external package, too
		t.Tests = append(t.Tests, Test{q.Name, began + int64(p.Step(q.Begin).At), began + int64(p.Step(q.End).At)})
	}
	slices.SortStableFunc(t.Tests, func(a, b Test) int { return cmp.Compare(b.took(), a.took()) })
	return t
}

func (t *Test) took() int64   { return t.To - t.From }
func (t *Tested) took() int64 { return t.To - t.From }

// Tests shows the packages of one run of the go command on one time axis, and what a better order
// of them, or of their tests, would change.
func Tests(list []Tested) *doc.Doc {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Tested) int { return cmp.Compare(a.From, b.From) })
	d := &doc.Doc{Title: "tests"}
	if len(list) == 0 {
		return d
	}
	from, to := list[0].From, list[0].To
	for i := range list {
		to = max(to, list[i].To)
	}
	s := d.Add("tests", "Tests, on one time axis")
	s.Say("%s of tests took %s.", packages(len(list)), measure.Time(to-from))
	for _, text := range better(list, from, to) {
		s.Say("%s", text)
	}
	t := doc.NewTable("package", "began at", "took", "busy", "tests", "longest", "").Left(5, 6)
	for i := range list {
		x := &list[i]
		longest := ""
		if len(x.Tests) > 0 {
			longest = fmt.Sprintf("%s %s", testName(x.Tests[0].Name), measure.Time(x.Tests[0].took()))
		}
		t.Row(doc.Name(x.Package, nameWidth), doc.Time(x.From-from), doc.Time(x.took()),
			fmt.Sprintf("%.2f", measure.Ratio(x.Busy, x.took())), doc.Count(int64(len(x.Tests))), longest,
			axis(x.From-from, x.To-from, to-from))
	}
	s.Table(t)
	return d
}

func packages(n int) string {
	if n == 1 {
		return "1 package"
	}
	return fmt.Sprintf("%d packages", n)
}

// testName is a test's name without its package.
func testName(name string) string { return strings.TrimPrefix(name, names.PackageOf(name)+".") }

// axisWidth is how many columns all tests take.
const axisWidth = 40

// axis is a bar between two times of a whole.
func axis(from, to, all int64) string {
	at := func(ns int64) int { return int(measure.Ratio(ns, all)*axisWidth + 0.5) }
	return strings.Repeat(" ", at(from)) + strings.Repeat("#", max(1, at(to)-at(from)))
}

// worthSaying is the share of all tests' time from which a better order is worth a line.
const worthSaying = 0.15

// better says which packages run alone at the end, and whose tests run one after another.
func better(list []Tested, from, to int64) (texts []string) {
	last, before := &list[0], from
	for i := range list {
		if list[i].To > last.To {
			last = &list[i]
		}
	}
	for i := range list {
		if &list[i] != last {
			before = max(before, list[i].To)
		}
	}
	alone := last.To - max(before, last.From)
	if len(list) > 1 && measure.Ratio(alone, to-from) >= worthSaying {
		more := ""
		if last.From > from && measure.Ratio(last.From-from, to-from) >= worthSaying {
			more = fmt.Sprintf(" It began %s after the first one: name it first, as the go command starts packages in the order in which they are given.", measure.Time(last.From-from))
		}
		texts = append(texts, fmt.Sprintf("%s runs alone at the end, for %s (%s).%s", last.Package, measure.Time(alone),
			measure.Percent(alone, to-from), more))
	}
	if none := gaps(list, from); measure.Ratio(none, to-from) >= worthSaying {
		texts = append(texts, fmt.Sprintf("No test ran for %s (%s) between them: the go command built packages, or waited.",
			measure.Time(none), measure.Percent(none, to-from)))
	}
	for i := range list {
		x := &list[i]
		one := x.oneAtATime()
		if len(x.Tests) < 2 || measure.Ratio(one, to-from) < worthSaying ||
			measure.Ratio(x.Busy, x.took()) > busyTests {
			continue
		}
		text := fmt.Sprintf("The tests of %s run one after another for %s: t.Parallel lets them run together. The longest ones are",
			x.Package, measure.Time(one))
		for k, t := range x.Tests[:min(3, len(x.Tests))] {
			if k > 0 {
				text += ","
			}
			text += fmt.Sprintf(" %s (%s)", testName(t.Name), measure.Time(t.took()))
		}
		texts = append(texts, text+".")
	}
	return texts
}

// gaps is for how long none of the packages ran, which are in the order in which they began.
func gaps(list []Tested, from int64) (ns int64) {
	for i, until := 0, from; i < len(list); i++ {
		ns += max(0, list[i].From-until)
		until = max(until, list[i].To)
	}
	return ns
}

// busyTests is how many processors are busy on average while tests run one after another, at most,
// if others could use the rest.
const busyTests = 1.2

// oneAtATime is for how long one test alone was under way.
func (t *Tested) oneAtATime() (ns int64) {
	type edge struct {
		at int64
		by int
	}
	var edges []edge
	for _, x := range t.Tests {
		edges = append(edges, edge{x.From, 1}, edge{x.To, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	open := 0
	for i, e := range edges {
		if open += e.by; open == 1 && i+1 < len(edges) {
			ns += edges[i+1].at - e.at
		}
	}
	return ns
}
