package advice

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
)

// Waits for the outside on the critical path: nothing else that the program does matters meanwhile.

// outside finds the places where the run waits for a timer, the network or the system.
func outside(f *Facts) (out []Item) {
	if f.Path == nil || f.Served != "" {
		return nil
	}
	for i := range f.Path.Entries {
		e := &f.Path.Entries[i]
		in := byDeadline(e.In)
		for _, c := range []steps.Cause{steps.Timer, steps.Network, steps.Call} {
			if e.Kind != critpath.KindWait || e.ID != "wait:"+c.String() || c == steps.Call && hidden(e, in) {
				continue
			}
			for j := range in {
				w := &in[j]
				if w.Name == "" || measure.Ratio(w.Self, f.Path.T) < pathShare.value() {
					continue
				}
				it := f.waitsFor(c, w)
				for k := range e.In { // its change is one of all of these
					if e.In[k].Name == w.Name && c != steps.Call { // which works, too
						it.onPath += e.In[k].Self
					}
				}
				out = append(out, it)
			}
		}
	}
	return out
}

// hidden reports whether many waits were in procedures that were only counted, so that their place
// is not known by events; samples may tell it.
func hidden(e *critpath.Entry, in []critpath.WaitedIn) bool {
	known := int64(0)
	for i := range in {
		known += in[i].Self
	}
	return len(in) < critpath.MostIn && float64(known) < placesKnown*float64(e.Self)
}

const placesKnown = 0.8

// byDeadline adds up the waits until one deadline: of those that waited for it the first to know is
// the one that waits for something of a library, or longest.
func byDeadline(list []critpath.WaitedIn) (out []critpath.WaitedIn) {
	for _, w := range list {
		i := slices.IndexFunc(out, func(o critpath.WaitedIn) bool {
			return o.Waiter != nil && w.Waiter != nil && o.Name == w.Name && o.Line == w.Line
		})
		if i < 0 {
			out = append(out, w)
			continue
		}
		o := &out[i]
		o.Self, o.Count = o.Self+w.Self, o.Count+w.Count
		if o.What == "" && w.What != "" {
			o.What, o.Waiter = w.What, w.Waiter
		}
	}
	return out
}

// waitsFor is the conclusion about waits for the outside in one place.
func (f *Facts) waitsFor(c steps.Cause, w *critpath.WaitedIn) Item {
	s := f.proc(*w)
	it := Item{ID: "timer", Claim: "the run waits for a timer", Subject: s, Change: WaitForEvent,
		WhatIf: fmt.Sprintf("wait:%s=-100%%", w.Name), partly: true, AtMost: w.Self,
		Evidence: []Fact{ns("of the critical path", w.Self), count("waits on it", w.Count),
			share("of the run", measure.Ratio(w.Self, f.Path.T))}}
	long := fmt.Sprintf("%s (%s of the run)", measure.Time(w.Self), measure.Percent(w.Self, f.Path.T))
	if w.Count > 1 {
		long = fmt.Sprintf("%s (%s of the run, %s times %s)", measure.Time(w.Self), measure.Percent(w.Self, f.Path.T),
			measure.Count(w.Count), measure.Time(w.Self/w.Count))
	}
	what := "a timer"
	if w.What != "" {
		what = w.What
	}
	switch {
	case 2*w.Acks > w.Self && w.Count >= fewAcks:
		it.ID, it.Claim, it.Change = "delayed-acknowledgments", "the run waits for delayed acknowledgments", Batch
		it.Text = fmt.Sprintf("%s waits for the network%s for %s, which is how long Linux delays acknowledgments. Write each message at once (bufio.Writer, net.Buffers), or leave Nagle's algorithm off (SetNoDelay)",
			at(&s), in(w), long)
	case c == steps.Network:
		it.ID, it.Claim, it.Change = "input-output", "the run waits for the network", StartTogether
		it.Text = fmt.Sprintf("%s waits for the network or a pipe%s for %s: start such requests together, or do other work meanwhile", at(&s), in(w), long)
	case c == steps.Call:
		it.ID, it.Claim, it.Change = "input-output", "the run waits for system calls", StartTogether
		it.Text = fmt.Sprintf("%s waits for the system%s for %s: make fewer such calls, some together, or do other work meanwhile", at(&s), in(w), long)
	case w.Waiter != nil && w.Stopped && w.What == "":
		it.ID, it.Claim, it.Remark = "pace", "the run keeps the pace of a clock", true
		it.Text = fmt.Sprintf("The run lasts until the deadline that %s sets stops %s, which works by a clock: %s. If that is meant, nothing is slow here.",
			at(&s), w.Waiter.Name, long)
		return it
	case w.Waiter != nil:
		until := "the deadline that " + at(&s) + " sets"
		if w.Waiter.Name == w.Name && w.Waiter.Line == w.Line { // who set it is not known
			until = "a deadline passes"
		}
		it.ID, it.Claim, it.Change = "deadline", "the run waits until a deadline passes", MoreWorkers
		it.Subject = f.proc(critpath.WaitedIn{Name: w.Waiter.Name, File: w.Waiter.File, Line: w.Waiter.Line})
		if w.What == "" {
			what = "what does not come"
		}
		it.Text = fmt.Sprintf("%s waits for %s until %s: %s. ", at(&it.Subject), what, until, long)
		if w.What != "" {
			it.Text += "If who has one waits for another, let it give that back first, let fewer in, or allow more"
		} else {
			it.Text += "Find out why it does not come; the deadline only ends the wait"
		}
	case w.What == "" && w.Paced && !f.asked(c, w):
		it.ID, it.Claim, it.Remark = "pace", "the run keeps the pace of a clock", true
		it.Text = fmt.Sprintf("The run keeps the pace of a clock: %s waits for it for %s. If that pace is meant, nothing is slow here; else change its rule: other changes gain little.",
			at(&s), long)
		if 2*w.Self < f.Path.T {
			it.ID, it.Claim = "pace-in-part", "a part of the run keeps the pace of a clock"
			it.Text = fmt.Sprintf("%s keeps the pace of a clock, for which it waits for %s: only another rule changes that.", at(&s), long)
		}
		return it
	case w.What == "" && f.pauses(w):
		it.ID, it.Claim, it.Remark = "pause", "clients pause after each answer", true
		it.Text = fmt.Sprintf("%s sleeps between requests, in %.1f goroutines at once, on average, and the run waits for that for %s: if clients are meant to pause, nothing is slow here.",
			at(&s), f.asleep(w.Name), long)
		return it
	case w.What == "" && c == steps.Timer && f.singly(w):
		it.ID, it.Claim, it.Remark = "one-at-a-time", "what is waited for does one thing at a time", true
		it.Text = fmt.Sprintf("%s waits for timers for %s with %s locked, each of %d for one at a time, %.1f at once on average: if that is meant, nothing is slow here.",
			at(&s), long, w.Under, f.object(w.Under).Objects, f.asleep(w.Name))
		return it
	case w.What != "" && names.IsOpened(w.What):
		it.partly = w.Count < fewConnections // the first ones are needed
		it.ID, it.Claim, it.Change = "new-connections", "connections are opened again and again", Batch
		it.Text = fmt.Sprintf("reuse connections instead of opening them in %s, for %s: that makes %s", at(&s), long, what)
	case w.What != "":
		it.ID, it.Claim, it.Change = "library-wait", "the run waits for what a library gives to so many", MoreWorkers
		it.Text = fmt.Sprintf("%s waits for %s for %s: allow more, or ask less often", at(&s), what, long)
	case f.asleep(w.Name) >= together:
		it.Change = MoreWorkers
		it.Text = fmt.Sprintf("%s waits for timers for %s, on average in %.1f goroutines%s: let more of them wait at once, or ask for less%s",
			at(&s), long, f.asleep(w.Name), inLoop(w), f.slowest(w))
	case w.Several:
		it.Text = fmt.Sprintf("%s sleeps for %s: wait for the event itself (a channel, a sync.Cond) instead of looking for it, or do other work meanwhile", at(&s), long)
	case w.Count > 1 && f.pending(c, w) != nil:
		it.Text = fmt.Sprintf("%s waits for timers one after another, for %s: wait less, or do more after each, unless this is how fast the run is to go", at(&s), long)
	default:
		it.Change = StartTogether
		it.Text = fmt.Sprintf("%s waits for timers one after another, for %s: start these together, or wait for the event itself if it only looks for one",
			at(&s), long)
		if w.Count < 2 {
			it.Text = fmt.Sprintf("%s waits for a timer for %s: do other work meanwhile, or wait for the event itself if it only looks for one", at(&s), long)
		}
	}
	f.delays(&it, c, w)
	return it
}

// delays names the goroutines that wait because of the subject of a conclusion.
func (f *Facts) delays(it *Item, c steps.Cause, w *critpath.WaitedIn) {
	l := f.pending(c, w)
	if l == nil {
		return
	}
	o := f.object(l.Object)
	it.Delays = []Subject{aboutObject(o)}
	it.Evidence = append(it.Evidence, ns("others waited meanwhile at "+o.Name, l.Ns))
	it.Text += fmt.Sprintf(". Meanwhile %.1f goroutines wait at %s", measure.Ratio(l.Ns, f.Wall), o.Name)
}

// pending is what others wait for most while goroutines wait in one place, half of the time at
// least; nil: there is none.
func (f *Facts) pending(c steps.Cause, w *critpath.WaitedIn) *critpath.Delayed {
	if f.Path.Delayed == nil || w.Waiter != nil {
		return nil
	}
	list := f.Path.Delayed()
	i := slices.IndexFunc(list, func(l critpath.Delayed) bool {
		return l.Kind == "wait:"+c.String() && l.Name == w.Name && l.Line == w.Line
	})
	if i < 0 || 2*list[i].Ns < w.Self {
		return nil
	}
	o := f.object(list[i].Object)
	if o == nil || o.Kind == replay.KindWaitGroup || sends(o) {
		return nil // all goroutines wait for all work, and those with some to give for those that do it
	}
	return &list[i]
}

// asked reports whether those that wait meanwhile have asked for something, and wait for answers,
// as at a channel for each question. Those that wait at one channel wait for any item.
func (f *Facts) asked(c steps.Cause, w *critpath.WaitedIn) bool {
	l := f.pending(c, w)
	return l != nil && f.object(l.Object).Objects > 1
}

// pauses reports whether goroutines that sleep in one place, several at once, have just had an
// answer from others of the program, most times.
func (f *Facts) pauses(w *critpath.WaitedIn) bool {
	if f.Path.Pauses == nil || f.asleep(w.Name) < together {
		return false
	}
	x := f.Path.Pauses()[critpath.Place{Name: w.Name, File: w.File, Line: w.Line}]
	return 2*x.Answered > x.All
}

// singly reports whether goroutines wait in one place each with a lock of its own, for which seldom
// another one waits: it stands for something that does one thing at a time.
func (f *Facts) singly(w *critpath.WaitedIn) bool {
	o := f.object(w.Under)
	return o != nil && o.Objects > 1 && seldom*o.Wait < o.Hold && f.asleep(w.Name) >= together
}

// seldom is how many times the time for which goroutines wait for a lock it is held at least, if
// they seldom do.
const seldom = 10

// inLoop names the loop in which a goroutine waits one time after another.
func inLoop(w *critpath.WaitedIn) string {
	if w.Loop == nil {
		return ""
	}
	proc, _, _ := strings.Cut(w.Loop.Name, ": ")
	return ", one after another in the loop of " + At(proc, w.Loop.File, w.Loop.Line)
}

// slowest says that the run waits for the longest of several waits.
func (f *Facts) slowest(w *critpath.WaitedIn) string {
	all, n := f.sleeps(w.Name)
	on, of := w.Self/max(1, w.Count), all/max(1, n)
	if float64(on) < slower*float64(of) {
		return ""
	}
	return fmt.Sprintf(", or do not wait for the slowest (the average is %s)", measure.Time(of))
}

// slower is how many times the average the waits on the path take at least, if the run waits for
// the slowest of several.
const slower = 1.4

// together is how many goroutines that sleep in one place at once, on average, do not look for
// something, but wait for many things.
const together = 1.5

// fewAcks is the least number of such waits that is no coincidence.
const fewAcks = 4

// asleep is how many goroutines sleep in a procedure, on average.
func (f *Facts) asleep(proc string) float64 {
	ns, _ := f.sleeps(proc)
	return measure.Ratio(ns, f.Wall)
}

// sleeps are the time and the number of all sleeps in a procedure, on the path or off it.
func (f *Facts) sleeps(proc string) (ns, n int64) {
	for i := range f.Objects {
		o := &f.Objects[i]
		if (o.Kind == "sleep" || strings.HasPrefix(o.Name, "time.")) && len(o.WaitedIn) > 0 &&
			o.WaitedIn[0].Reason == proc {
			ns, n = ns+o.Wait, n+o.Waits
		}
	}
	return ns, n
}

// in names the function in which a procedure waits for the system or the network.
func in(w *critpath.WaitedIn) string {
	if w.Calls == "" {
		return ""
	}
	return " in " + w.Calls
}

// at names a subject with its place.
func at(s *Subject) string { return At(s.Name, s.File, s.Line) }

// At is a name with its place.
func At(name, file string, line int) string {
	if file == "" {
		return name
	}
	return fmt.Sprintf("%s (%s:%d)", name, path.Base(file), line)
}

// proc is the procedure of a wait as a subject.
func (f *Facts) proc(w critpath.WaitedIn) Subject {
	s := Subject{Kind: profile.KindProc, Name: w.Name, File: w.File, Line: w.Line}
	for i := range f.Entries {
		if e := &f.Entries[i]; Written(e) && e.Name == w.Name {
			s.ID = e.ID
			if s.File == "" {
				s.File, s.Line = e.File, e.Line
			}
		}
	}
	return s
}

// absorbed removes waits for timers that do not gain for certain, where the run keeps the pace of a
// clock for most of it: the clock absorbs what they save.
func (f *Facts) absorbed(list []Item) []Item {
	pace := 0.
	for i := range list {
		if list[i].ID == "pace" {
			pace += list[i].Evidence[0].Value
		}
	}
	if 2*pace <= float64(f.Wall) {
		return list
	}
	return slices.DeleteFunc(list, func(it Item) bool {
		return it.ID == "timer" && it.Gain != nil && float64(it.Gain.Low) < surelyGains*float64(f.Wall)
	})
}
