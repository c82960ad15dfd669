package why

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	analysis "qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

const (
	mostParts   = 12   // procedures that are candidates, at most
	mostTested  = 5    // candidates that are tested because of their gain, and
	mostBusy    = 2    // because of their processor time
	leastGain   = 1    // percent of the run that a part gains at least
	leastShare  = 0.05 // of the processor time that it has
	leastOwn    = 0.1  // of the processor time that it has of its own, if it gains nothing
	covers      = 0.85 // share of a gain that others have, so that the part is not the narrowest
	sameWork    = 0.1  // difference between a procedure and another one that only calls it
	busyFrom    = 0.9  // share of the processors' time from which they are busy
	plateauFrom = 0.8  // share of a gain in proportion to the work, below which gains end
)

// read reads one trace. The predictor is nil if nothing can be predicted.
func (s *study) read(file string) (f *advice.Facts, q *predict.Predictor, err error) {
	t, err := trace.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	if f, err = advice.Read(t, profile.Within{}); err != nil {
		return nil, nil, err
	}
	switch {
	case s.o.Load != "" && f.Program != nil:
		q = predict.NewLoadPredictor(f.Program, sim.Go, advice.Held(f.Profile))
	case s.o.Load == "" && f.Served == "": // else the outside decides how long the run is
		q, _ = f.Gains.(*predict.Predictor)
	}
	return f, q, nil
}

// look finds candidates in the trace of the first run, and their gains in all.
func (s *study) look(traces []string) error {
	var asked []int64 // requests of each run
	var took []trace.Time
	for _, r := range s.Runs {
		took = append(took, trace.Time(r.T))
	}
	for i, file := range traces {
		n, err := s.lookAt(i, file, took)
		if err != nil {
			return err
		}
		asked = append(asked, n)
	}
	s.Found = slices.DeleteFunc(s.Found, func(c why.Candidate) bool {
		return c.Late > 0 && 2*c.Seen < len(s.Runs)
	})
	if least, most := slices.Min(asked), slices.Max(asked); s.o.Load != "" && float64(most) > sameAsked*float64(least) {
		s.Notes = append(s.Notes, fmt.Sprintf("the load asks for %d to %d requests: one that asks for a time takes as long whatever the program does; expected the same number in each run", least, most))
	}
	return nil
}

// lookAt finds gains in the trace of a run, by its number from 0, and returns how many requests it
// answered. took are the lengths of all runs.
func (s *study) lookAt(run int, file string, took []trace.Time) (asked int64, err error) {
	defer s.r.During(fmt.Sprintf("computing what changes gain in run %d of %d", run+1, len(took)))()
	f, q, err := s.read(file)
	if err != nil {
		return 0, err
	}
	if q != nil {
		q.Among(predict.Differ(took))
	}
	items := advice.Of(f)
	if run == 0 {
		s.Bound = bound(f)
		s.Found = append(conclusions(f, items), s.parts(f, q)...)
		if q == nil {
			s.Notes = append(s.Notes, s.unpredicted(f))
		}
	}
	s.late(run, conclusions(f, items))
	for k := range s.Found {
		c := &s.Found[k]
		c.Gains = append(c.Gains, s.gain(c, f, q, items))
		if c.Most != nil && q != nil {
			if ns, err := q.Takes("calls:" + c.Factor + "=-100%"); err == nil && ns > 0 {
				c.Ends = append(c.Ends, max(0, 100*(1-ns/float64(q.T()))))
			}
		}
	}
	return requests(f), nil
}

// late adds the conclusions of a run, by its number from 0, that those before did not show.
func (s *study) late(run int, found []why.Candidate) {
	for _, c := range found {
		if i := slices.IndexFunc(s.Found, func(o why.Candidate) bool { return o.ID() == c.ID() }); i >= 0 {
			s.Found[i].WhatIf = cmp.Or(s.Found[i].WhatIf, c.WhatIf) // what can be tried, if not predicted, in all
			continue
		}
		c.Late = run
		for range run {
			c.Gains = append(c.Gains, predict.Change{Unknown: "the run does not show it"})
		}
		s.Found = append(s.Found, c)
	}
}

// sameAsked is the ratio of numbers of requests that are the same, as far as they are estimates.
const sameAsked = 1.05

// requests is how many requests a run answered.
func requests(f *advice.Facts) (n int64) {
	if f.Path == nil {
		return 0
	}
	for i := range f.Path.Requests {
		if r := &f.Path.Requests[i]; r.Kind != steps.RequestTest {
			n += r.Number
		}
	}
	return n
}

// hidden are procedures of packages with probes that have none, and should: those with much of the
// processor time in samples of their callers, and inlined callers of procedures with much of it.
// Else a helper would stand for the work of all of its callers.
func (s *study) hidden(file string) (names []string, err error) {
	t, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	p, err := profile.New(t)
	if err != nil {
		return nil, err
	}
	f, sum := &advice.Facts{Profile: p}, map[string]float64{}
	for i := range p.Entries {
		e := &p.Entries[i]
		for _, c := range e.Callees {
			if advice.Written(e) && f.HasProbes(c.Name) && !strings.Contains(c.Name, ",") {
				sum[c.Name] += c.Share * float64(e.SelfBusy)
			}
		}
	}
	inlined := callsOfInlined(t.Tables())
	for i := range t.Points {
		pt := &t.Points[i]
		name := inlinedWith(t.Tables(), pt)
		for k := range p.Entries {
			if e := &p.Entries[k]; name != "" && e.Name == pt.Name && advice.Written(e) {
				sum[name] += min(1, inlined[name]/float64(max(1, e.Calls))) * float64(e.CallBusy)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		if sum[name] >= leastOwn*float64(p.Busy) {
			names = append(names, name)
		}
	}
	return names, nil
}

// callsOfInlined is how often functions were called that the compiler inlines, by their names.
func callsOfInlined(t *trace.Tables) map[string]float64 {
	calls := map[string]float64{}
	for range deepest { // those that are inlined into others, too
		was := calls
		calls = map[string]float64{}
		for i := range t.Points {
			pt := &t.Points[i]
			if by := inlinedWith(t, pt); by != "" {
				calls[pt.Name] += was[by]
			} else if pt.Kind == spec.PointCall {
				calls[pt.Name] += float64(pt.Hits)
			}
		}
	}
	return calls
}

// inlinedWith is the function that a call is in, if the compiler inlines that; else empty.
func inlinedWith(t *trace.Tables, pt *trace.Point) string {
	if pt.Kind != spec.PointCall || pt.Owner < 0 || int(pt.Owner) >= len(t.Points) ||
		t.Points[pt.Owner].Kind != spec.PointFunc {
		return ""
	}
	return t.Points[pt.Owner].Name
}

// unpredicted is why no gain can be computed.
func (s *study) unpredicted(f *advice.Facts) string {
	switch {
	case s.o.Load == "" && f.Served != "":
		return "no gain can be computed: the outside decides how long the program runs (-load is the command that asks a server)"
	case s.o.Load != "" && f.Program != nil && sim.NewWatch(f.Program, "") == nil:
		return "no gain can be computed: the trace of the first run has no requests"
	}
	return "no gain can be computed: the first run lacks operations, or is too long"
}

// conclusions are the candidates that the rules find.
func conclusions(f *advice.Facts, items []advice.Item) (list []why.Candidate) {
	for _, it := range items {
		ruled := strings.HasPrefix(it.ID, "pace")
		if it.Remark && !ruled {
			continue
		}
		c := why.Candidate{Kind: it.ID, Subject: it.Subject, Change: it.Change, WhatIf: it.WhatIf, Text: it.Text,
			Facts: it.Evidence, Ruled: ruled, AtMost: it.AtMost, Defect: it.Defect}
		c.Factor, c.Untested = factorOf(f, &it.Subject)
		list = append(list, c)
	}
	return list
}

// factorOf names the part to delay for a test of a conclusion, or says why there is none.
func factorOf(f *advice.Facts, s *advice.Subject) (factor, untested string) {
	switch s.Kind {
	case profile.KindProc, profile.KindLoop:
		return s.Name, ""
	case profile.KindSync:
		i := slices.IndexFunc(f.Objects, func(o profile.Object) bool { return o.Name == s.Name })
		if i >= 0 && f.Objects[i].Lock() {
			return "hold:" + s.Name, ""
		}
		return "", "no delay makes a channel slower, but only what is done with it"
	case profile.KindGoroutine:
		return "", "goroutines are not delayed, but only what they do"
	}
	return "", "it is no part of the program that can be delayed"
}

// parts are the procedures whose work gains most, callees included, and those with much of the
// processor time of their own: that a change of these gains nothing is worth knowing.
func (s *study) parts(f *advice.Facts, q *predict.Predictor) (list []why.Candidate) {
	if q == nil {
		return nil
	}
	busy := busiest(f)
	all := s.weighed(f, q, busy)
	for _, p := range narrowest(f, slices.Clone(all)) {
		e := p.entry
		c := why.Candidate{Kind: why.Part, Change: advice.LessWork, WhatIf: s.less(e.Name), Factor: e.Name,
			Busy:    slices.Contains(busy, e.Name),
			Subject: advice.Subject{Kind: e.Kind, ID: e.ID, Name: e.Name, File: e.File, Line: e.Line}}
		if c.Work = p.work; c.Busy || p.gain >= leastGain {
			c.Most, c.Curve = s.plateau(f, q, p, all), curve(q, e.Name)
			list = append(list, c)
		}
	}
	return list
}

// part is a procedure with its callees.
type part struct {
	entry *profile.Entry
	work  float64 // ns
	gain  float64 // percent of the run, if it does less
}

// less is the change of a procedure that does less.
func (s *study) less(name string) string { return fmt.Sprintf("calls:%s=-%g%%", name, s.o.By) }

// weighed are the procedures with most processor time, callees included, and their gains.
func (s *study) weighed(f *advice.Facts, q *predict.Predictor, busy []string) (list []part) {
	for i := range f.Entries {
		e := &f.Entries[i]
		much := float64(e.CallBusy) >= leastShare*float64(f.Busy) || slices.Contains(busy, e.Name)
		if advice.Written(e) && much {
			list = append(list, part{entry: e})
		}
	}
	slices.SortStableFunc(list, func(a, b part) int { return cmp.Compare(b.entry.CallBusy, a.entry.CallBusy) })
	list = list[:min(len(list), mostParts)]
	for i := range list {
		p := &list[i]
		if g, err := q.Gain(s.less(p.entry.Name)); err == nil && g.Unknown == "" {
			p.gain = g.GainPct
		}
		p.work, _ = q.Amount("calls:" + p.entry.Name) // without any it is the narrowest
	}
	return list
}

// narrowest leaves out a procedure if the parts within it gain as much together, or if one of its
// callers does: that is a helper then, which others call, too.
func narrowest(f *advice.Facts, list []part) (kept []part) {
	slices.SortStableFunc(list, func(a, b part) int {
		if math.Abs(a.work-b.work) < sameWork*max(a.work, b.work) {
			switch calls := f.Calling(a.entry.ID, b.entry.ID); {
			case calls && !f.Calling(b.entry.ID, a.entry.ID):
				return 1 // what is called comes first
			case !calls && f.Calling(b.entry.ID, a.entry.ID):
				return -1
			}
		}
		return cmp.Compare(a.work, b.work)
	})
	for _, p := range list {
		within, one := 0., 0.
		for _, k := range kept {
			if f.Calling(p.entry.ID, k.entry.ID) {
				within += k.gain
			} else if f.Calling(k.entry.ID, p.entry.ID) {
				one = max(one, k.gain)
			}
		}
		if max(within, one) < covers*p.gain || p.gain < leastGain {
			kept = append(kept, p)
		}
	}
	return kept
}

// busiest are the procedures with most processor time of their own.
func busiest(f *advice.Facts) (names []string) {
	var list []*profile.Entry
	for i := range f.Entries {
		if e := &f.Entries[i]; advice.Written(e) && float64(e.SelfBusy) >= leastOwn*float64(f.Busy) {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *profile.Entry) int { return int(b.SelfBusy - a.SelfBusy) })
	for _, e := range list[:min(len(list), mostBusy)] {
		names = append(names, e.Name)
	}
	return names
}

// plateau is the gain without any of a part's work, and the other part that the run then waits for;
// nil: the gain grows with the share of the work.
func (s *study) plateau(f *advice.Facts, q *predict.Predictor, of part, all []part) *why.Plateau {
	change := "calls:" + of.entry.Name + "=-100%"
	most, err := q.Gain(change)
	if err != nil || most.Unknown != "" || most.GainPct >= plateauFrom*100/s.o.By*of.gain {
		return nil
	}
	p, gains := &why.Plateau{Pct: most.GainPct}, 0.
	without, err := q.Takes(change)
	if err != nil || without == 0 {
		return p
	}
	for _, other := range all {
		if f.Calling(of.entry.ID, other.entry.ID) || f.Calling(other.entry.ID, of.entry.ID) {
			continue
		}
		with, err := q.Takes(change + " + " + s.less(other.entry.Name))
		if err == nil && with > 0 && without-with > max(gains, leastGain/100.*without) {
			p.Other, gains = other.entry.Name, without-with
		}
	}
	return p
}

// curve are the gains of less and less work in a part, by one run.
func curve(q *predict.Predictor, part string) (list []why.Share) {
	for by := 20; by <= 100; by += 20 {
		ns, err := q.Takes(fmt.Sprintf("calls:%s=-%d%%", part, by))
		if err != nil || ns == 0 {
			return nil
		}
		list = append(list, why.Share{By: float64(by), Gain: max(0, 100*(1-ns/float64(q.T())))})
	}
	return list
}

// gain is that of a candidate in one run.
func (s *study) gain(c *why.Candidate, f *advice.Facts, q *predict.Predictor, items []advice.Item) predict.Change {
	same := func(it advice.Item) bool { return it.Subject.Name == c.Subject.Name }
	i := slices.IndexFunc(items, func(it advice.Item) bool { return it.ID == c.Kind && same(it) })
	if c.Kind != why.Part && slices.ContainsFunc(items, same) {
		c.Seen++ // under another name, too: a lock that is contended may be saturated next time
	}
	switch {
	case (i < 0 || items[i].Gain == nil || s.o.Load != "") && c.WhatIf != "" && q != nil:
		// a part, a conclusion that this run has not, or one about requests
		g, err := q.Gain(c.WhatIf)
		if err != nil {
			g = predict.Change{Change: c.WhatIf, Unknown: err.Error()}
		}
		return g
	case i < 0 || items[i].Gain == nil:
		return predict.Change{Change: c.WhatIf, Unknown: "nothing can be predicted of this run"}
	}
	g, percent := items[i].Gain, func(ns int64) float64 { return 100 * measure.Ratio(ns, f.Wall) }
	return predict.Change{Change: c.WhatIf, Procs: f.Procs, T: f.Wall - g.Ns, Gain: g.Ns, GainPct: percent(g.Ns),
		LoPct: percent(g.Low), HiPct: percent(g.High)}
}

// bound says what bounds the run, if that is known.
func bound(f *advice.Facts) string {
	procs := max(1, f.Procs)
	busy := f.Effective / float64(procs)
	most := ""
	if names := busiest(f); len(names) > 0 {
		most = ", most of it in " + names[0]
	}
	switch {
	case busy >= busyFrom && procs == 1:
		return fmt.Sprintf("the processor is busy for %.0f %% of the time: only less work helps%s", 100*busy, most)
	case busy >= busyFrom:
		return fmt.Sprintf("all %d processors are busy for %.0f %% of the time: only less work helps%s", procs, 100*busy,
			most)
	case f.Effective < 0.5:
		return fmt.Sprintf("the run waits for most of the time: %.2f processors are busy on average", f.Effective)
	}
	return fmt.Sprintf("%.2f of %d processors are busy on average", f.Effective, procs)
}

// factors are the rules of the experiment: about the candidates that gain most, and the procedures
// with most processor time.
func (s *study) factors() (rules []string) {
	answer, err := why.Judge(s.Study)
	if err != nil {
		return nil
	}
	add := func(c *why.Candidate) bool {
		if c.Factor == "" || c.Ruled || slices.Contains(rules, c.Factor) {
			return false
		}
		rules = append(rules, c.Factor)
		return true
	}
	of := func(id string) *why.Candidate {
		return &s.Found[slices.IndexFunc(s.Found, func(c why.Candidate) bool { return c.ID() == id })]
	}
	for _, f := range answer.Findings {
		if f.Predicted != nil && f.Predicted.Pct > 0 && len(rules) < mostTested {
			add(of(f.ID))
		}
	}
	busy := 0
	for i := range s.Found {
		if c := &s.Found[i]; c.Busy && busy < mostBusy && add(c) {
			busy++
		}
	}
	return rules
}

// models is in how many runs delays are computed.
const models = 3

// model computes runs with the delays of each run of an experiment, in s; none: they cannot be
// computed.
func (s *study) model(ctx context.Context, x *analysis.Experiment) (all [][]float64, err error) {
	for i := range models {
		name := fmt.Sprintf("run %d of %d to compute delays in", i+1, models)
		err := s.once(ctx, name, lab.Job{Settings: s.o.Settings}, func(res lab.Result) error {
			_, q, err := s.read(res.Trace)
			if err != nil || q == nil {
				return err
			}
			if list := delayed(q, x); list != nil {
				all = append(all, list)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func delayed(q *predict.Predictor, x *analysis.Experiment) (list []float64) {
	p := &x.Plans[0]
	var parts []*predict.Delayed
	for _, of := range p.Factors {
		f := &x.Factors[of]
		d := &predict.Delayed{Name: f.Name, Lock: strings.HasPrefix(f.Rule, "hold:")}
		if !q.Visits(d) {
			return nil
		}
		parts = append(parts, d)
	}
	known := map[string]float64{} // runs of a plan are made several times
	for _, r := range p.Runs {
		ns := make([]float64, len(parts))
		for k, level := range r.Levels {
			f := &x.Factors[p.Factors[k]]
			ns[k] = f.Visits * f.Delay * float64(level+1) / 2
		}
		key := fmt.Sprint(r.Levels)
		if _, ok := known[key]; !ok {
			if known[key] = q.WithDelays(parts, ns) / 1e9; known[key] == 0 {
				return nil
			}
		}
		list = append(list, known[key])
	}
	return list
}
