package gate

import (
	"fmt"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/stats"
)

// mostApart is up to how far the ends of an interval may lie from the middle: a difference of two
// times as much would often not be seen, and the machine is too noisy.
const mostApart = 0.05

// farApart is up to how far they may lie if what differs from run to run is only chance.
const farApart = 2 * mostApart

// Time is a comparison of times.
type Time struct {
	ID         string         // wall or cpu
	Base, Head float64        // median of the runs, in ns
	AA         stats.Interval // base again to base: of equal programs
	Ratio      stats.Interval // head to base
}

func newTime(id string, a, b, base, head []float64) (t Time, err error) {
	t = Time{ID: id, Base: stats.Median(base), Head: stats.Median(head)}
	var ok, also bool
	t.AA, ok = stats.Ratio(a, b)
	t.Ratio, also = stats.Ratio(base, head)
	if !ok || !also {
		return t, fmt.Errorf("%s: found runs without a time, expected %d pairs of runs that take some", id, len(base))
	}
	return t, nil
}

// seeming is the factor by which equal programs differed at least, in either direction: usually 1,
// since their interval has it. On a very noisy machine it is the one by which they may differ.
// Other programs' work comes and goes for longer than a pair of runs, so that intervals are too
// narrow there: of 40 comparisons of equal programs beside builds and tests, 6 had an interval
// without 0.
func (t *Time) seeming() float64 {
	if t.apart() > farApart {
		return max(t.AA.High, 1/t.AA.Low)
	}
	return max(1, t.AA.Low, 1/t.AA.High)
}

// exceeds reports whether head takes longer than base by more than the limit and the difference of
// equal programs together. Equal programs do in at most 2.5 of 100 gates.
func (t *Time) exceeds(c Condition) bool { return t.Ratio.Low > (1+c.Limit/100)*t.seeming() }

// Noisy reports whether the machine shows no difference of less than a tenth.
func (t *Time) Noisy() bool { return t.apart() > mostApart }

// apart is how far the ends of intervals lie from their middle, as a share of that.
func (t *Time) apart() float64 { return max(t.AA.High/t.AA.Mean, t.Ratio.High/t.Ratio.Mean) - 1 }

// Verdict is a condition with its reason.
type Verdict struct {
	Condition string `json:"condition"`
	Text      string `json:"text"`

	about []string // times and counts by id, conclusions by identity
}

// Result is a comparison.
type Result struct {
	Names      Names
	Main       place // where the program begins, in head
	Same       bool  // both builds are the same file: nothing was run
	Times      []Time
	Counts     []Count       // all, the totals first
	Items      []advice.Item // conclusions that head has and base has not
	Outputs    bool          // head prints something else than base
	Conditions []Condition
	Pairs      int
	Failed     []Verdict // conditions that hold
	Undecided  []Verdict // conditions of which nothing can be said
	Plain      bool      // times are of builds without probes
	Counted    bool      // both programs have probes
	Concluded  bool      // conclusions were drawn
}

// outcome is whether a condition holds.
type outcome int

const (
	passes outcome = iota
	fails
	undecided
)

// decide decides which conditions hold.
func (r *Result) decide() {
	for _, c := range r.Conditions {
		var o outcome
		v := Verdict{Condition: c.String()}
		switch {
		case c.isTime():
			o, v.Text = r.judgeTime(c)
			v.about = []string{c.Quantity}
		case !r.Counted || c.Quantity == Conclusions && !r.Concluded:
			o, v.Text = undecided, "that needs runs of programs with probes"
		case c.Quantity == Allocs:
			o, v.Text = r.judgeAllocs(c)
			v.about = []string{Allocs}
		case c.Quantity == Conclusions:
			o, v.Text, v.about = r.judgeConclusions(c)
		default:
			o, v.Text, v.about = r.judgeCount(c)
		}
		switch o {
		case fails:
			r.Failed = append(r.Failed, v)
		case undecided:
			r.Undecided = append(r.Undecided, v)
		}
	}
}

func (r *Result) judgeTime(c Condition) (o outcome, text string) {
	t := r.time(c.Quantity)
	switch {
	case t == nil:
		return undecided, "no program was run"
	case t.exceeds(c):
		return fails, fmt.Sprintf("%s is %s", t.ID, t.change())
	case t.Noisy() && percent(t.Ratio.High) > c.Limit:
		return undecided, fmt.Sprintf("the machine is too noisy: %s is %s", t.ID, t.change())
	}
	return passes, ""
}

func (r *Result) judgeAllocs(c Condition) (o outcome, text string) {
	n := r.count(Allocs)
	if n == nil {
		return undecided, "no program was run"
	}
	if !n.allocates(c) {
		return passes, ""
	}
	return fails, fmt.Sprintf("%s allocates %s objects, %s %s", r.Names.Base, n.Base, r.Names.Head, n.Head)
}

// allocates reports whether a condition on allocations holds: each run of head has more than any of
// base by the limit.
func (c *Count) allocates(by Condition) bool {
	return c.ID == by.Quantity && by.exceeds(float64(c.Base.High), float64(c.Head.Low))
}

func (r *Result) judgeConclusions(c Condition) (o outcome, text string, about []string) {
	for i := range r.Items {
		if it := &r.Items[i]; c.Name == "" || c.Name == it.ID {
			about = append(about, it.Identity())
		}
	}
	if !c.exceeds(0, float64(len(about))) {
		return passes, "", nil
	}
	return fails, fmt.Sprintf("new conclusions: %d", len(about)), about
}

func (r *Result) judgeCount(c Condition) (o outcome, text string, about []string) {
	n := r.count(c.id())
	switch {
	case n == nil:
		return undecided, "neither program counts anything of that name", nil
	case !n.Exact():
		return undecided, fmt.Sprintf("runs of the same program differ: %s %s, %s %s", r.Names.Base, n.Base, r.Names.Head, n.Head), nil
	case !c.exceeds(float64(n.Base.Low), float64(n.Head.Low)):
		return passes, "", nil
	}
	for _, part := range r.changed() { // itself, or the parts of a total that grew
		if part.More() > 0 && (c.Name == "" && part.kind() == c.Quantity || part.ID == n.ID) {
			about = append(about, part.ID)
		}
	}
	return fails, r.has(n), about
}

// has says how many of a count either program has.
func (r *Result) has(c *Count) string {
	return fmt.Sprintf("%s has %s, %s %s (%+d)", r.Names.Base, c.Base, r.Names.Head, c.Head, c.More())
}

func (r *Result) time(id string) *Time {
	for i := range r.Times {
		if r.Times[i].ID == id {
			return &r.Times[i]
		}
	}
	return nil
}

func (r *Result) count(id string) *Count {
	for i := range r.Counts {
		if r.Counts[i].ID == id {
			return &r.Counts[i]
		}
	}
	return nil
}

// percent is a ratio as a change in percent.
func percent(ratio float64) float64 { return 100 * (ratio - 1) }

// change is a comparison in words.
func (t *Time) change() string {
	return fmt.Sprintf("%+.1f%% (%+.1f to %+.1f), of equal programs %+.1f%% (%+.1f to %+.1f)", percent(t.Ratio.Mean),
		percent(t.Ratio.Low), percent(t.Ratio.High), percent(t.AA.Mean), percent(t.AA.Low), percent(t.AA.High))
}

// String is a number, or from which to which numbers runs count.
func (r Range) String() string {
	if r.Exact() {
		return fmt.Sprint(r.Low)
	}
	return fmt.Sprintf("%d to %d", r.Low, r.High)
}
