package advice

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
)

// Some findings are defects whatever they cost: a lock that is never given back, and goroutines
// that never end and become more and more. They come first.

// chained finds goroutines that wait for each other's locks, or have a lock and wait for something
// else up to the end, while others wait for the lock.
func chained(f *Facts) (out []Item) {
	for i := range f.Chains {
		c := &f.Chains[i]
		last := c.Links[len(c.Links)-1]
		since := f.Wall - last.Since
		if !c.Cycle && measure.Ratio(since, f.Wall) < stuckShare.value() {
			continue
		}
		it := Item{ID: "deadlock", Claim: "goroutines wait for each other's locks", Defect: true, Change: Release,
			Subject: Subject{Kind: profile.KindSync, ID: "sync:" + c.Links[0].Has, Name: c.Links[0].Has,
				File: c.Links[0].Taken.File, Line: c.Links[0].Taken.Line},
			Evidence: []Fact{count("goroutines in the chain", int64(len(c.Links))), count("others that wait", c.Waiting),
				ns("the last of them waits since", since)}}
		var each []string
		for i, l := range c.Links {
			if i == mostLinks {
				each = append(each, fmt.Sprintf("and so on, %s more", measure.Count(len(c.Links)-mostLinks)))
				break
			}
			on := cmp.Or(l.On, l.For)
			each = append(each, fmt.Sprintf("%s has %s%s and waits for %s%s", l.Goroutine, l.Has, placed(l.Taken), on, placed(l.Waits)))
		}
		others := ""
		if c.Waiting > 0 {
			others = fmt.Sprintf("; %s for these", wait(c.Waiting))
		}
		if c.Cycle {
			it.Text = fmt.Sprintf("take locks in one order: %s%s. None of them has gone on for %s", strings.Join(each, ", "), others,
				measure.Time(since))
		} else {
			it.ID, it.Claim = "held-while-waiting", "a goroutine that has a lock waits, and others wait for it"
			it.Text = fmt.Sprintf("do not wait while holding a lock: %s%s. That has lasted for %s, up to the end", strings.Join(each, ", "),
				others, measure.Time(since))
		}
		out = append(out, it)
	}
	return out
}

// mostLinks is how many goroutines of a chain are named.
const mostLinks = 6

func placed(p profile.Place) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", path.Base(p.File), p.Line)
}

// abandoned finds locks whose holders ended without unlocking them.
func abandoned(f *Facts) (out []Item) {
	for i := range f.Objects {
		o := &f.Objects[i]
		d := o.Abandoned
		if d == nil || measure.Ratio(d.Longest, f.Wall) < stuckShare.value() {
			continue
		}
		it := Item{ID: "never-unlocked", Claim: "a goroutine ended without unlocking a lock", Defect: true,
			Subject: Subject{Kind: profile.KindSync, ID: "sync:" + o.Name, Name: o.Name, File: d.File, Line: d.Line},
			Change:  Unlock,
			Evidence: []Fact{ns("its holder ended after", d.Ended), count("goroutines that wait for it at the end", d.Waiting),
				ns("longest wait", d.Longest)}}
		it.Text = fmt.Sprintf("unlock %s on every way out of %s (%s:%d): a goroutine %s ended after %s while it had it, and %s for it up to the end, %s at most",
			name(o), cmp.Or(d.Taken, "the procedure that takes it"), path.Base(d.File), d.Line, d.Holder, measure.Time(d.Ended), wait(d.Waiting),
			measure.Time(d.Longest))
		out = append(out, it)
	}
	return out
}

func wait(n int64) string {
	if n == 1 {
		return "another one waits"
	}
	return fmt.Sprintf("%s others wait", measure.Count(n))
}

// leaks finds goroutines that began to wait at different times and never went on.
func leaks(f *Facts) (out []Item) {
	for i := range f.Left {
		l := &f.Left[i]
		if float64(l.Count) < leftCount.value() || measure.Ratio(l.Last-l.First, f.Wall) < leftSpread.value() ||
			f.abandonedNamed(l.On) {
			continue
		}
		started, created := l.Count, ""
		for k := range f.Entries {
			if e := &f.Entries[k]; e.ID == l.Entry {
				started = int64(e.Calls)
				if e.Creator != "" {
					created = ", started in " + e.Creator
				}
				if e.Site != "" {
					created += " (" + path.Base(e.Site) + ")"
				}
			}
		}
		in := Subject{Kind: profile.KindGoroutine, ID: l.Entry, Name: l.Name, File: l.File, Line: l.Line}
		it := Item{ID: "goroutine-leak", Claim: "goroutines never end", Subject: in, Change: Release, Defect: true,
			Evidence: []Fact{count("goroutines that wait at the end", l.Count), count("started", started),
				ns("the first one waits since", l.First), ns("the last one waits since", l.Last)}}
		it.Text = fmt.Sprintf("let the goroutines %s end: %s of %s%s wait at the end (%s%s), more and more as the run goes on%s",
			l.Name, measure.Count(l.Count), measure.Count(started), created, l.For, placeOf(l), hint(l.For))
		out = append(out, it)
	}
	return out
}

// endless finds goroutines of which none ever ended, though they go on between waits.
func endless(f *Facts) (out []Item) {
	for i := range f.Endless {
		x := &f.Endless[i]
		if float64(x.Count) < endlessCount.value() || measure.Ratio(x.Last-x.First, f.Wall) < endlessSpread.value() ||
			f.Part {
			continue
		}
		k := slices.IndexFunc(f.Entries, func(e profile.Entry) bool { return e.ID == x.Entry })
		if k < 0 || !f.HasProbes(x.Name) {
			continue
		}
		e := &f.Entries[k]
		created := ""
		if e.Creator != "" {
			created = ", started in " + f.procAt(e.Creator)
		}
		it := Item{ID: "goroutine-leak", Claim: "goroutines never end", Subject: about(e), Change: Release, Defect: true,
			Evidence: []Fact{count("goroutines of which none ended", x.Count), ns("the first one was created at", x.First),
				ns("the last one was created at", x.Last), ns("processor time of all", e.Busy)}}
		it.Text = fmt.Sprintf("let the goroutines %s end: none of %s%s ended before the run did. Their number grows as the run goes on, and they took %s of processor time (%s)",
			at(&it.Subject), measure.Count(x.Count), created, measure.Time(e.Busy), measure.Percent(e.Busy, f.Busy))
		out = append(out, it)
	}
	return out
}

func placeOf(l *profile.Left) string {
	if l.In == "" {
		return ""
	}
	s := Subject{Name: l.In, File: l.File, Line: l.Line}
	return " in " + at(&s)
}

// hint is how such waits usually end.
func hint(reason string) string {
	switch reason {
	case "chan send", "chan send (nil chan)":
		return ". Where the receiver may have gone, a buffer of one or a select lets the sender end"
	case "chan receive", "chan receive (nil chan)":
		return ". Close the channel when nothing more will be sent, or receive in a select with a context's Done"
	}
	return ""
}

// abandonedNamed reports whether an object is a lock that is never unlocked.
func (f *Facts) abandonedNamed(name string) bool {
	for i := range f.Objects {
		if o := &f.Objects[i]; o.Name == name && o.Abandoned != nil {
			return true
		}
	}
	return false
}

// herds finds conditions whose goroutines are mostly woken to wait again.
func herds(f *Facts) (out []Item) {
	for i := range f.Objects {
		o := &f.Objects[i]
		// To wake one and let it wait again takes more outside of it: two switches, and its lock.
		cost := min(o.VainBusy+vainCost*o.Vain, f.Busy)
		if !inHerds(o) || measure.Ratio(cost, f.Busy) < vainShare.value() ||
			measure.Ratio(cost, f.Wall) < surelyGains || !f.HasProbes(o.Name) {
			continue // or it is a library's, which does so by design
		}
		it := Item{ID: "wake-ups-in-vain", Claim: "goroutines are woken and have to wait again", Subject: aboutObject(o),
			Change: Signal, AtMost: cost, Remark: measure.Ratio(cost, f.Wall*int64(max(1, f.Procs))) < herdShare,
			Evidence: []Fact{count("wake-ups in vain", o.Vain), count("waits", o.Waits), ns("processor time, at least", o.VainBusy),
				share("of busy time, at least", measure.Ratio(o.VainBusy, f.Busy))}}
		by := ""
		if len(o.EndedBy) > 0 {
			by = " by " + o.EndedBy[0].Reason
		}
		it.Text = fmt.Sprintf("wake one goroutine with Signal instead of all with Broadcast: of %s wake-ups%s at %s %s were in vain, and took %s of processor time or more (%s of busy): the run becomes shorter as far as it waits for processors",
			measure.Count(o.Waits), by, name(o), measure.Count(o.Vain), measure.Time(o.VainBusy),
			measure.Percent(o.VainBusy, f.Busy))
		if it.Remark {
			it.Text = strings.ToUpper(it.Text[:1]) + it.Text[1:] + "."
		}
		out = append(out, it)
	}
	return out
}

// inHerds reports whether most wake-ups at an object are in vain.
func inHerds(o *profile.Object) bool { return o.Vain > 0 && 2*o.Vain >= o.Waits }

// herdShare is the least share of the processors' capacity that makes wake-ups in vain worth a
// numbered line. With less the run seldom becomes shorter without them.
const herdShare = 0.1

// vainCost is the processor time of a wake-up in vain outside of its goroutine, in ns.
const vainCost = 300

// tiny finds goroutines that do so little that to start and end them takes as long.
func tiny(f *Facts) (out []Item) {
	for _, k := range f.started() {
		each := k.got / int64(k.count)
		if !k.tiny(f) {
			continue
		}
		it := Item{ID: "tiny-goroutines", Claim: "goroutines do less than to start them takes", Subject: about(k.most),
			Change: FewerGoroutines, AtMost: int64(k.cost)/int64(max(1, f.Procs)) + k.got/2,
			Evidence: []Fact{count("goroutines", k.count), ns("processor time of one", each),
				ns("to start and end them", int64(k.cost))}}
		in := ""
		if k.most.Creator != "" {
			outer, _ := names.Outer(k.most.Creator)
			in = " in " + outer
		}
		it.Text = fmt.Sprintf("start fewer goroutines%s: %s of %s ran for %s each, and to start and end one takes about %s. One for each processor, with a range of its own, does the same work",
			in, measure.Count(k.count), k.most.Name, measure.Time(each), measure.Time(int64(k.cost/float64(k.count))))
		out = append(out, it)
	}
	return out
}

// kind are all goroutines of one function.
type kind struct {
	most  *profile.Entry // of most of them
	count uint64
	got   int64 // ns of processor time
	// processor time that their starts take in the procedures that make them, in ns, and at least
	cost, least float64
}

// tiny reports whether their starts take about as long as their work, and much of all.
func (k *kind) tiny(f *Facts) bool {
	share := func(ns float64) float64 { return ns / float64(max(1, f.Busy)) }
	return share(k.cost) >= tinyShare.value() && share(k.least) >= tinyShare.value()/2 &&
		float64(k.got) <= float64(mostTiny)/startCost*k.cost
}

// started are the functions of which many goroutines were started.
func (f *Facts) started() (list []kind) {
	at := map[string]int{}
	for i := range f.Entries {
		e := &f.Entries[i]
		if !isProgram(e) {
			continue
		}
		k, ok := at[e.Name]
		if !ok {
			k, at[e.Name] = len(list), len(list)
			list = append(list, kind{most: e})
		}
		x := &list[k]
		x.count, x.got = x.count+e.Calls, x.got+e.Got
		if e.Calls > x.most.Calls {
			x.most = e
		}
	}
	list = slices.DeleteFunc(list, func(k kind) bool { return float64(k.count) < tinyCount.value() })
	for i := range list {
		k := &list[i]
		k.cost = startCost * float64(k.count)
		k.least = k.cost
		creator, _ := names.Outer(k.most.Creator)
		for j := range f.Entries {
			in := &f.Entries[j]
			if d := by(in, replay.Starting); d != nil && Written(in) && in.Name == creator {
				k.cost = max(k.cost, d.Share*float64(in.SelfBusy))
				k.least = max(k.least, d.In[0]*float64(in.SelfBusy))
			}
		}
	}
	return list
}

// startCost is the least processor time in which a goroutine is started and ends, in ns, and
// mostTiny the processor time of goroutines that are worth no start.
const (
	startCost = 400
	mostTiny  = 3500
)
