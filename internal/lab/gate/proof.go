package gate

import (
	"fmt"

	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

// Proof is a comparison beside what was promised of the change.
type Proof struct {
	*Result
	Promises []Promised
	By       float64  // percent by which parts take less in what is promised
	Took     [2]int64 // how long recorded runs took, in ns, where no program was run
	Notes    []string
}

// Promised is a promise, with what became of it.
type Promised struct {
	why.Promise
	Verdict why.Verdict
	Loud    bool // it is undecided, and equal programs differ by more than is promised
}

// NewProof judges promises by a result.
func NewProof(r *Result, promises []why.Promise) *Proof {
	p := &Proof{Result: r}
	g := r.gain()
	for _, one := range promises {
		q := Promised{Promise: one, Verdict: why.Undecided}
		switch {
		case r.Same: // which has no interval
			q.Verdict = why.Less
		case g == nil:
		default:
			q.Verdict = one.Judge(g.Low, g.High)
			q.Loud = q.Verdict == why.Undecided && r.time(Wall).loudness() > one.Pct
		}
		p.Promises = append(p.Promises, q)
	}
	return p
}

// loudness is how wide the interval of equal programs is, in percent.
func (t *Time) loudness() float64 { return 100 * (t.AA.High - t.AA.Low) }

// gain is by how much less time head takes, in percent of base's. What equal programs certainly
// differ by is added to the interval, as it is to the limits of conditions. It is nil if no program
// was run.
func (r *Result) gain() *stats.Interval {
	if r.Same {
		return &stats.Interval{}
	}
	t := r.time(Wall)
	if t == nil {
		return nil
	}
	s := t.seeming()
	return &stats.Interval{Mean: -percent(t.Ratio.Mean), Low: -percent(t.Ratio.High * s),
		High: -percent(t.Ratio.Low / s)}
}

// Statuses of a command, by what it found.
const (
	Proven    = 0 // head is faster, or as fast
	Slower    = 1 // or a condition holds
	Undecided = 2
	Loud      = 3 // equal programs differ by more than was promised
)

// Status is what was found, as an exit status. Of several promises the change may have been one: if
// one is kept, others may be undecided.
func (p *Proof) Status() int {
	g := p.gain()
	loud, open, met := false, false, false
	for i := range p.Promises {
		q := &p.Promises[i]
		loud = loud || q.Loud
		open = open || !q.Loud && q.Verdict == why.Undecided
		met = met || q.Verdict == why.Kept || q.Verdict == why.More
	}
	switch {
	case len(p.Failed) > 0 || g != nil && g.High < 0:
		return Slower
	case loud && !open && !met:
		return Loud
	case len(p.Undecided) > 0 || g == nil || open && !met || p.vague():
		return Undecided
	}
	return Proven
}

// vague reports whether head could well be slower.
func (p *Proof) vague() bool {
	t := p.time(Wall)
	return t != nil && t.Noisy() && p.gain().Low <= 0
}

// Recorded compares what two traces of a program counted. Of times, and of what the runtime
// allocates, one run tells nothing.
func Recorded(names Names, base, head *trace.Trace, conditions []Condition) (*Result, error) {
	a, b := base.Attr("program"), head.Attr("program")
	if a != b {
		return nil, fmt.Errorf("found traces of %v and of %v, expected two of the same program", a, b)
	}
	r := &Result{Names: names, Conditions: conditions, Counted: true}
	for _, c := range compare([]*counted{count(base)}, []*counted{count(head)}) {
		if c.ID != Allocs {
			r.Counts = append(r.Counts, c)
		}
	}
	r.decide()
	return r, nil
}

// Studied is a comparison of two studies of a program, which have times alone.
func Studied(names Names, base, head *why.Study, conditions []Condition) (*Result, error) {
	if a, b := base.Program, head.Program; a.Name != b.Name {
		return nil, fmt.Errorf("found studies of %s and of %s, expected two of the same program", a.Name, b.Name)
	}
	r := &Result{Names: names, Conditions: conditions}
	r.decide()
	return r, nil
}
