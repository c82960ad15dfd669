package gate

import (
	"encoding/json"
	"fmt"
	"io"

	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/stats"
)

// Doc is the proof as a report, with both sides in words.
func (p *Proof) Doc(base, head string) *doc.Doc {
	d := &doc.Doc{Title: "Did the change gain what was promised?"}
	first := d.Add("verdict", "")
	first.Say("%s", p.verdict())
	p.sides(first, base, head)
	p.loud(first)
	for _, n := range p.Notes {
		first.Note("%s", n)
	}
	p.promised(d)
	if p.Same {
		return d
	}
	p.times(d)
	p.counts(d)
	if p.Concluded {
		p.conclusions(d)
	}
	return d
}

// verdict is what became of the program.
func (p *Proof) verdict() string {
	g := p.gain()
	switch {
	case p.Same:
		return "The change gains nothing: the program is the same."
	case g == nil:
		return fmt.Sprintf("No gain was measured, because nothing was run: recorded were runs of %s and %s.", measure.Time(p.Took[0]), measure.Time(p.Took[1]))
	case g.Low > 0:
		return fmt.Sprintf("The program takes %.1f %% less time (%.1f to %.1f).", g.Mean, g.Low, g.High)
	case g.High < 0:
		return fmt.Sprintf("The program takes %.1f %% more time (%.1f to %.1f).", -g.Mean, -g.High, -g.Low)
	case p.vague():
		return fmt.Sprintf("Whether the program got slower is not decided: it gains %.1f %% (%.1f to %.1f).", g.Mean, g.Low, g.High)
	}
	return fmt.Sprintf("No gain or loss of time is seen: it is %.1f %% (%.1f to %.1f).", g.Mean, g.Low, g.High)
}

// loud warns if equal programs differ by more than the largest promise.
func (p *Proof) loud(s *doc.Section) {
	most := 0.
	for i := range p.Promises {
		if !p.Promises[i].Loud {
			return
		}
		most = max(most, p.Promises[i].Pct)
	}
	if most > 0 {
		s.Warn("The machine is too loaded: equal programs differ within an interval of %.1f %%, and promised is a gain of %.1f %%. Let nothing else run there, or use more pairs of runs (-n).", p.time(Wall).loudness(), most)
	}
}

// promised lists what was promised beside what was realized.
func (p *Proof) promised(d *doc.Doc) {
	if len(p.Promises) == 0 {
		return
	}
	s := d.Add("promises", "What was promised, and what the whole change gained")
	t := doc.NewTable("rank", "change", "promised", "from", "to", "gained", "from", "to", "verdict").Left(1, 8)
	g := p.gain()
	for i := range p.Promises {
		q := &p.Promises[i]
		row := []any{fmt.Sprint(q.Rank), doc.Name(q.Change, 2*letters), share(q.Pct), share(q.Lo), share(q.Hi)}
		if g == nil {
			row = append(row, "", "", "")
		} else {
			row = append(row, share(g.Mean), share(g.Low), share(g.High))
		}
		t.Row(append(row, string(q.Verdict))...)
	}
	s.Table(t)
	if len(p.Promises) > 1 {
		s.Say("Each promise is compared as if the change were that one alone. If one of them was meant, name its rank: -promise %d.", p.Promises[0].Rank)
	}
	if p.By > 0 && p.By < 100 {
		s.Note("a part is promised to take %.0f %% less: a change that saves more of it gains more", p.By)
	}
}

func share(percent float64) doc.Cell {
	return doc.Cell{Text: fmt.Sprintf("%.1f%%", percent), Value: percent / 100, Unit: "share"}
}

// promisedJSON is a promise in JSON, with what the whole change gained.
type promisedJSON struct {
	ID        string      `json:"id"`
	Predicted float64     `json:"predicted_pct"`
	Realized  *float64    `json:"realized_pct"` // null: no program was run
	Low       *float64    `json:"lo_pct"`
	High      *float64    `json:"hi_pct"`
	Verdict   why.Verdict `json:"verdict"` // kept, less, more or undecided
}

// beforeAfter is an exact count that differs.
type beforeAfter struct {
	ID     string `json:"id"`
	Before uint64 `json:"before"`
	After  uint64 `json:"after"`
}

// ProofObject is a proof as JSON. Gains are of the wall time, in percent of what it was before.
type ProofObject struct {
	Version  int            `json:"version"`
	Gain     *float64       `json:"gain_pct"` // null: no program was run
	Low      *float64       `json:"lo_pct"`
	High     *float64       `json:"hi_pct"`
	AALow    *float64       `json:"aa_lo_pct"` // of equal programs
	AAHigh   *float64       `json:"aa_hi_pct"`
	Promises []promisedJSON `json:"promises"`
	Counts   []beforeAfter  `json:"counts"`           // that differ, and are exact
	Failed   []Verdict      `json:"failed,omitempty"` // conditions that hold
	Open     []Verdict      `json:"undecided,omitempty"`
}

// ends are the middle and the ends of an interval; nil: there is none.
func ends(g *stats.Interval) (middle, low, high *float64) {
	if g == nil {
		return nil, nil, nil
	}
	m, l, h := hundredths(g.Mean), hundredths(g.Low), hundredths(g.High)
	return &m, &l, &h
}

// WriteJSON writes the proof as one object.
func (p *Proof) WriteJSON(w io.Writer) error {
	o := ProofObject{Version: 1, Promises: []promisedJSON{}, Counts: []beforeAfter{}, Failed: p.Failed,
		Open: p.Undecided}
	o.Gain, o.Low, o.High = ends(p.gain())
	if t := p.time(Wall); t != nil {
		_, o.AALow, o.AAHigh = ends(&stats.Interval{Low: -percent(t.AA.High), High: -percent(t.AA.Low)})
	}
	for i := range p.Promises {
		q := &p.Promises[i]
		o.Promises = append(o.Promises, promisedJSON{q.ID, hundredths(q.Pct), o.Gain, o.Low, o.High, q.Verdict})
	}
	for _, c := range p.changed() {
		o.Counts = append(o.Counts, beforeAfter{c.ID, c.Base.Low, c.Head.Low})
	}
	return json.NewEncoder(w).Encode(o)
}
