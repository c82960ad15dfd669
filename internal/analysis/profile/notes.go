package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

func newNotes(b *builder, p *Profile) *notes { return &notes{b.r.T, b, p} }

// notes lists the statements that the data does not support, for the top of every page: the
// missing data, and the statements affected. A complete trace of a complete run has none.
type notes struct {
	t *trace.Tables
	b *builder
	p *Profile
}

func (n *notes) list() (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	t, b, p, l := n.t, n.b, n.p, &n.p.Losses
	if p.Goroutines == 0 {
		say("scheduling was not recorded: there are counts, but no times")
		return list
	}
	if c, computed := t.Corrected(); computed {
		say("times are computed, without what probes cost (qinst correct): the run took %s, and would have taken %s to %s", seconds(int64(c.Took)), seconds(int64(c.Least)), seconds(int64(c.Most)))
	}
	if w := b.within; w != nil {
		say("only goroutines in the %s %s, and what they started there, have lines; the rest is [outside]. Calls are those that were traced there; queues are of those goroutines", map[bool]string{true: "region", false: "label"}[w.Region != ""], cmp.Or(w.Region, w.Label))
	}
	if b.virtual() {
		say("processors are virtual: goroutines run in regions \"vcpu\" and are ready in regions \"vready\"; all else takes no processor time")
	}
	if t.End.Reason == "cut" {
		say("this is a part of a run: calls and times are those of the part, and the creators of goroutines that were there before are not known")
	}
	if t.Kept {
		say("the file keeps the last events of a longer run, since earlier ones made room (QINST=limit): calls and times are those of this part")
	} else if !t.HasCounts && b.within == nil && t.End.Reason != "cut" {
		say("the file has no totals, as those of a flight recorder: calls are those that events tell of")
	}
	for _, limit := range t.Limits {
		say("after %s the program only counted (limit of %s): calls are those of the whole run, times end there",
			seconds(int64(limit.Time)), limit.Reason)
	}
	if l.Incomplete != 0 {
		say("the file has no end: what the program did last is missing, and totals are those found so far")
	}
	if n := l.Events + l.Missing + l.Blocks + l.BlockDamage; n > 0 {
		say("events were lost (see below): it is not known which goroutines ran in the gaps, so waits, queues and processors busy are doubtful near them")
	}
	if u := &t.Usage; u.Calls > 0 {
		say("%s system calls since the program began, which took %s in all, have no events, because recording them exceeded QINST=limit. Their time is counted as work of their callers. Calls in which a goroutine lost its processor were all recorded", counted(uint64(u.Calls)), seconds(u.Called))
	}
	if l.NoClock != 0 {
		say("the clock's speed is not known: all times are in its ticks")
	}
	if p.Sampling != nil {
		list = append(list, p.Sampling.note())
	}
	if note := burstsNote([]*Profile{p}); note != "" {
		list = append(list, note)
	}
	if names := n.hidden(); len(names) > 0 {
		say("%s of %s calls were timed or counted, not traced, and no samples were taken: the time of %s is in their callers' self times",
			counted(p.Degraded), counted(n.allCalls()), strings.Join(names, ", "))
	}
	if n := n.small(); n > 0 {
		say("%s procedures are small and were only counted: their time is in their callers' lines (built with -small=0 they have lines of their own)", counted(n))
	}
	if degraded, all := n.countedOps(); float64(degraded) > exactWithin*float64(all) {
		say("%s of %s operations on synchronization objects were only counted: waits are exact; holds with ~ are estimates from the other operations (95 %% intervals are in -json), with ≥ they are lower bounds; waits for such locks are blamed on the goroutine that unlocks", counted(degraded), counted(all))
	}
	if names := n.partly(); len(names) > 0 {
		say("some operations on %s have no probe (qinst points lists most of them): waits for such locks are exact, holds with ≥ are those that were seen, and with ? none was", strings.Join(names, ", "))
	}
	return list
}

// partly returns the locks that were waited for and that have operations without a probe, the
// longest waits first.
func (n *notes) partly() (names []string) {
	for i := range n.p.Objects {
		if o := &n.p.Objects[i]; o.Partly && o.Wait > 0 {
			names = append(names, o.Name)
		}
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("%d others", more))
	}
	return names
}

// fewLooks is the least number of looks that shares need: with fewer the 95 % interval of a half is
// wider than from a third to two thirds.
const fewLooks = 30

func (s *Sampling) note() string {
	if s.Looks < fewLooks {
		return fmt.Sprintf("the samplers looked only %s times: times with ~ are no more than guesses, and with ≤ the most of what no look found (-json has their 95 %% intervals); all others are exact", counted(uint64(s.Looks)))
	}
	return fmt.Sprintf("times with ~ are estimates from %s looks of the samplers, and with ≤ the most of what no look found (-json has their 95 %% intervals); all others are exact", counted(uint64(s.Looks)))
}

// hidden returns the procedures with calls that were not traced, those with the most such calls
// first. It returns none if there are samples.
func (n *notes) hidden() (names []string) {
	if n.p.Sampling != nil {
		return nil
	}
	var list []int
	for i := range n.t.Points {
		if p := &n.t.Points[i]; p.Kind == spec.PointProc && p.Degraded() > 0 && !p.Small() {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(x, y int) int {
		return cmp.Compare(n.t.Points[y].Degraded(),
			n.t.Points[x].Degraded())
	})
	for k, i := range list {
		if k == 3 {
			return append(names, fmt.Sprintf("%d others", len(list)-k))
		}
		names = append(names, n.t.Points[i].Name)
	}
	return names
}

// small returns the number of procedures that were called and are only counted. Samples that show
// the text that runs find them as they find others.
func (n *notes) small() (sum uint64) {
	if n.b.samples.codes >= enough {
		return 0
	}
	for i := range n.t.Points {
		if p := &n.t.Points[i]; p.Small() && p.Hits > 0 {
			sum++
		}
	}
	return sum
}

// countedOps returns the number of operations that were only counted, and of all operations.
func (n *notes) countedOps() (counted, all uint64) {
	for i := range n.t.Points {
		if p := &n.t.Points[i]; p.Kind == spec.PointSync && p.Traceable() {
			counted, all = counted+n.t.Degraded(trace.PointID(i)), all+n.t.Hits(trace.PointID(i)).Shown()
		}
	}
	return counted, all
}

// allCalls are the calls of procedures.
func (n *notes) allCalls() (sum uint64) {
	for i := range n.t.Points {
		if p := &n.t.Points[i]; p.Kind == spec.PointProc {
			sum += p.Hits
		}
	}
	return sum
}

// counted is a number with separators.
func counted(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func seconds(ns int64) string { return fmt.Sprintf("%.3gs", float64(ns)/1e9) }
