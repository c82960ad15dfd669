package verify

import (
	"encoding/json"
	"fmt"
	"io"

	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/stats"
)

// muchCompany is by how many percent longer work has to take in company to be worth a line.
const muchCompany = 5

// Doc is the verification as a report.
func (r *Result) Doc() *doc.Doc {
	d := &doc.Doc{Title: "Is what qinst says true on this machine?"}
	first := d.Add("verdict", "")
	first.Say("%s", r.verdict())
	first.Detail("%d pairs of runs on %d processors took %s.", r.Pairs, processors, measure.Time(r.Took))
	if m := &r.Machine; m.Company >= muchCompany && m.Waited <= mostWaited { // else other load is the reason
		first.Detail("Work takes %.0f %% longer here while the other processor works.", r.Machine.Company)
	}
	s := d.Add("bounds", "Figures of qinst, and the truth")
	t := doc.NewTable("figure", "compared with", "found", "true", "off by", "from", "to", "bound", "verdict").Left(1, 8)
	for i := range r.Rows {
		w := &r.Rows[i]
		t.Row(w.What, w.Truth, w.value(w.Found), w.value(w.Expected), w.signed(w.Off), w.signed(w.Low),
			w.signed(w.High), w.bound(), string(w.Verdict))
	}
	s.Table(t)
	busy := 0
	for i := range r.Rows {
		switch w := &r.Rows[i]; {
		case w.Busy:
			busy++
		case r.Pairs < stats.LeastPairs && w.Unit != hits:
		case w.Why != "":
			s.Say("%s: %s.", w.What, w.Why)
		}
	}
	if r.Pairs < stats.LeastPairs {
		s.Note("fewer than %d pairs of runs have no intervals: figures other than hits are not decided", stats.LeastPairs)
	}
	if m := &r.Machine; busy > 0 {
		s.Warn("%d figures are not decided because the machine is too busy: equal programs differ by up to %.1f %%, and threads that could run waited for a processor for %.0f %% of the time. Let nothing else run, and try again.",
			busy, m.Equal, m.Waited)
	}
	return d
}

// verdict is the first sentence.
func (r *Result) verdict() string {
	n := map[Verdict]int{}
	for i := range r.Rows {
		n[r.Rows[i].Verdict]++
	}
	text := fmt.Sprintf("%d of %d bounds hold on this machine", n[Holds], len(r.Rows))
	if n[Exceeds] > 0 {
		text += fmt.Sprintf("; %d exceeded", n[Exceeds])
	}
	if n[Undecided] > 0 {
		text += fmt.Sprintf("; %d not decided", n[Undecided])
	}
	return text + "."
}

// WriteJSON writes the verification as one object.
func (r *Result) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// value is a figure in its unit.
func (r *Row) value(x float64) string {
	switch r.Of {
	case hits:
		return measure.Count(int64(x))
	case nanoseconds:
		return measure.Time(int64(x))
	}
	return fmt.Sprintf("%.1f %%", x)
}

// signed is an error.
func (r *Row) signed(x *float64) string {
	switch {
	case x == nil:
		return ""
	case r.Unit == hits:
		return fmt.Sprintf("%+.0f", *x)
	}
	return fmt.Sprintf("%+.1f", *x)
}

func (r *Row) bound() string {
	switch {
	case r.Most == 0:
		return "none"
	case r.Least == nil:
		return fmt.Sprintf("at most %g %s", r.Most, r.Unit)
	}
	return fmt.Sprintf("+- %g %s", r.Most, r.Unit)
}
