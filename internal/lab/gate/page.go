package gate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/stats"
)

const (
	mostRows = 20 // of counts in a table, and of annotations that are no errors
	letters  = 50 // of a name
)

// changed are the counts that differ between the programs and not between runs of one, those that
// grew most first. Totals are not among them.
func (r *Result) changed() (list []*Count) {
	for i := range r.Counts {
		if c := &r.Counts[i]; c.kind() != "" && c.Exact() && c.Differs() {
			list = append(list, c)
		}
	}
	share := func(c *Count) float64 { return float64(c.More()) / float64(max(1, c.Base.Low)) }
	slices.SortStableFunc(list, func(a, b *Count) int { return cmp.Compare(share(b), share(a)) })
	return list
}

// varying are the counts that differ between runs of one program.
func (r *Result) varying() (list []*Count) {
	for i := range r.Counts {
		if c := &r.Counts[i]; !c.Exact() && c.ID != Allocs {
			list = append(list, c)
		}
	}
	return list
}

// Doc is the result as a report, with the names of both sides.
func (r *Result) Doc(base, head string) *doc.Doc {
	d := &doc.Doc{Title: "Does this change make the program slower?"}
	first := d.Add("verdict", "")
	first.Say("%s", r.verdict())
	r.sides(first, base, head)
	if r.Same {
		return d
	}
	r.times(d)
	r.counts(d)
	r.conclusions(d)
	return d
}

// sides says what is compared, which conditions do not let it pass, and what is doubtful.
func (r *Result) sides(first *doc.Section, base, head string) {
	first.Detail("%s: %s", r.Names.Base, base)
	first.Detail("%s: %s", r.Names.Head, head)
	if r.Same {
		first.Say("Both builds are the same file, byte for byte. Nothing was run.")
		return
	}
	for _, f := range r.Failed {
		first.Say("%s holds: %s.", f.Condition, f.Text)
	}
	for _, u := range r.Undecided {
		first.Warn("%s is not decided: %s.", u.Condition, u.Text)
	}
	for i := range r.Times {
		if t := &r.Times[i]; t.Noisy() {
			first.Warn("The machine is too noisy for %s: a difference of less than a tenth would often not be seen. Let nothing else run there, or use more pairs of runs (-n).", t.ID)
		}
	}
	if r.Outputs {
		first.Warn("The outputs of %s and %s differ: they may not do the same.", r.Names.Base, r.Names.Head)
	}
}

func (r *Result) verdict() string {
	switch {
	case len(r.Failed) > 0:
		return fmt.Sprintf("The change does not pass: %d of %d conditions hold.", len(r.Failed), len(r.Conditions))
	case len(r.Undecided) > 0:
		return fmt.Sprintf("Not measured: %d of %d conditions are not decided.", len(r.Undecided), len(r.Conditions))
	case len(r.Conditions) == 0:
		return "No condition was given (-fail-if)."
	}
	return "The change passes: no condition holds."
}

func (r *Result) times(d *doc.Doc) {
	if len(r.Times) == 0 {
		return
	}
	t := doc.NewTable("time", r.Names.Base, r.Names.Head, "change", "from", "to", "equal programs, from", "to")
	for i := range r.Times {
		q := &r.Times[i]
		t.Row(q.ID, doc.Time(int64(q.Base)), doc.Time(int64(q.Head)), change(q.Ratio.Mean), change(q.Ratio.Low),
			change(q.Ratio.High), change(q.AA.Low), change(q.AA.High))
	}
	how := "without probes"
	if !r.Plain {
		how = "whose probes record nothing"
	}
	s := d.Add("times", fmt.Sprintf("Times of %d pairs of runs %s", r.Pairs, how))
	s.Table(t)
}

func change(ratio float64) doc.Cell {
	return doc.Cell{Text: fmt.Sprintf("%+.1f%%", percent(ratio)), Value: ratio - 1, Unit: "share"}
}

func (r *Result) counts(d *doc.Doc) {
	changed, varying := r.changed(), r.varying()
	s := d.Add("counts", "Counts")
	if !r.Counted {
		s.Say("Nothing was counted: that needs programs with probes, or packages.")
		return
	}
	if len(changed) == 0 {
		s.Say("Nothing is called, locked, sent or started more or less often.")
	}
	if c := r.count(Allocs); c != nil {
		s.Say("Objects allocated: %s %s, %s %s.", r.Names.Base, c.Base, r.Names.Head, c.Head)
	}
	t := doc.NewTable("count", r.Names.Base, r.Names.Head, "change", "where")
	for _, c := range changed[:min(len(changed), mostRows)] {
		t.Row(doc.Name(c.ID, letters), doc.Count(c.Base.Low), doc.Count(c.Head.Low), fmt.Sprintf("%+d", c.More()),
			c.At.String())
	}
	s.Table(t.Left(4))
	if n := len(changed) - mostRows; n > 0 {
		s.Note("%d more counts changed; -json has them all", n)
	}
	if len(varying) > 0 {
		var names []string
		for _, c := range varying[:min(len(varying), 5)] {
			names = append(names, fmt.Sprintf("%s (%s, %s)", c.ID, c.Base, c.Head))
		}
		if len(varying) > len(names) {
			names = append(names, fmt.Sprintf("%d more", len(varying)-len(names)))
		}
		s.Note("These differ between runs of the same program, and say nothing (%s, %s): %s", r.Names.Base, r.Names.Head, joined(names))
	}
}

func (r *Result) conclusions(d *doc.Doc) {
	s := d.Add("conclusions", "New conclusions")
	if len(r.Items) == 0 {
		s.Say("The advice concludes nothing of head that it does not conclude of base.")
	}
	var texts []string
	for i := range r.Items {
		texts = append(texts, r.Items[i].Text)
	}
	s.List(texts)
}

func joined(list []string) string { return strings.Join(list, ", ") }

// String is a place as tables have it.
func (p place) String() string {
	if p.file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(p.file), p.line)
}

// timeJSON is a time in JSON. Changes are in percent.
type timeJSON struct {
	ID     string  `json:"id"`
	Base   int64   `json:"base_ns"` // medians
	Head   int64   `json:"head_ns"`
	Change float64 `json:"pct"`
	spread
	AA spread `json:"aa"`
}

// spread is the interval of a change, in percent.
type spread struct {
	Low  float64 `json:"lo_pct"`
	High float64 `json:"hi_pct"`
}

func spreadOf(i stats.Interval) spread {
	return spread{hundredths(percent(i.Low)), hundredths(percent(i.High))}
}

func hundredths(v float64) float64 { return math.Round(100*v) / 100 }

// countJSON is a count that differs, or that runs of one program do not agree on: then base and
// head are the least, and there is the most, too.
type countJSON struct {
	ID       string  `json:"id"`
	Base     uint64  `json:"base"`
	Head     uint64  `json:"head"`
	BaseMost *uint64 `json:"base_most,omitempty"`
	HeadMost *uint64 `json:"head_most,omitempty"`
	File     string  `json:"file,omitempty"`
	Line     int     `json:"line,omitempty"`
}

// Object is a result as JSON.
type Object struct {
	Version   int           `json:"version"`
	Same      bool          `json:"same,omitempty"` // the programs are equal, so that nothing was run
	AA        *spread       `json:"aa"`             // equal programs, of the wall time; null: nothing was run
	Times     []timeJSON    `json:"times"`
	Counts    []countJSON   `json:"counts"` // that differ, or are not exact
	Items     []advice.Item `json:"items"`  // conclusions that base has not
	Failed    []Verdict     `json:"failed"` // conditions that hold
	Undecided []Verdict     `json:"undecided"`
}

// WriteJSON writes the result as one object.
func (r *Result) WriteJSON(w io.Writer) error {
	o := Object{Version: 1, Same: r.Same, Times: []timeJSON{}, Counts: []countJSON{},
		Items: append([]advice.Item{}, r.Items...), Failed: append([]Verdict{}, r.Failed...),
		Undecided: append([]Verdict{}, r.Undecided...)}
	for i := range r.Times {
		t := &r.Times[i]
		o.Times = append(o.Times, timeJSON{t.ID, int64(t.Base), int64(t.Head), hundredths(percent(t.Ratio.Mean)),
			spreadOf(t.Ratio), spreadOf(t.AA)})
		if t.ID == Wall {
			aa := spreadOf(t.AA)
			o.AA = &aa
		}
	}
	for i := range r.Counts {
		c := &r.Counts[i]
		if !c.Differs() && c.Exact() {
			continue
		}
		j := countJSON{ID: c.ID, Base: c.Base.Low, Head: c.Head.Low, File: c.At.file, Line: c.At.line}
		if !c.Exact() {
			j.BaseMost, j.HeadMost = &c.Base.High, &c.Head.High
		}
		o.Counts = append(o.Counts, j)
	}
	return json.NewEncoder(w).Encode(o)
}
