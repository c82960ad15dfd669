// Package view shows a trace in a browser: an application on this machine, for which a server
// reduces the trace to the pixels at hand.
//
// The interface is below /api/v1, answers in JSON, and knows no other method than GET, but for
// live. Times are ns since the trace began.
//
//	trace                                      the run: program, length, processors, statements, warnings
//	events                                     how far the trace has been read, as server-sent events
//	items                                      conclusions, as "qinst report -json" has them under advice,
//	                                           with the command that checks their gains
//	tracks                                     lanes, those of each group with most time first
//	timeline?from&to&px&tracks=ID,ID[&exact=1] slices of tracks between two times, for so many pixels;
//	                                           fine_ns: shorter ones may be together. exact reads that
//	                                           part again, if it is not too long
//	fold?name&from&to&px                       how many goroutines of a function there are, by their states
//	bands?from&to&px[&item][&kind&name]        pictures of the run, of a conclusion if there is one,
//	                                           of a part of the program if there is a name
//	path?from&to&px                            pieces of the path between two times
//	table                                      entries of the profile
//	names                                      procedures, also of the trace before, in the order
//	                                           in which they get colours
//	objects                                    locks, channels and the like
//	source?name                                lines of a procedure, with their costs
//	requests?[name]                            requests by name; those of a name over time
//	whatif?change                              the gain of a change; of several with " + " between them
//	whatif?procs                               the run on so many processors
//	records[?name]                             kinds of records that the program defines; those of a kind
//	flame                                      call paths, from the outside in
//	compared                                   what changed since the trace before, if there is one
//	experiment                                 an experiment, if one is shown: see package
//	                                           report/experiment. Without a trace there are
//	                                           only this and trace
//
// What is below before/ is about that trace. Of a program that runs the answers are about its
// newest frame:
//
//	frames                                     frames, and whether it runs, is paused or ended, as
//	                                           server-sent events
//	live                                       POST {"do": "pause" or "go on"}, or {"set": what to record}
//
// Parameters that make no sense are answered with 400, an unknown path with 404.
package view

import (
	"errors"
	"sync"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

// View is a trace that is shown.
type View struct {
	File    string                // its name, for commands
	Sources func() report.Sources // from where source is shown
	Before  *View                 // the trace with which it is compared; nil: none

	t       *trace.Trace // nil: there is only an experiment
	tried   *Tried       // nil: there is none
	tracks  *tracks
	done    chan struct{} // closed when the trace has been read; what follows is known then
	err     error
	lanes   lanes.Left
	facts   *advice.Facts
	exact   exact
	records records
	computed
}

// computed are results that take time, and are computed when they are asked for.
type computed struct {
	items  func() []advice.Item
	flame  func() *Flame
	whole  func() *critpath.Result // with its path; nil: there is none
	asking sync.Mutex              // held by one that computes from the steps
}

// New begins to read a trace. Its tracks are shown as far as it has been read.
func New(t *trace.Trace) *View { return newView(t, mostSlices) }

func newView(t *trace.Trace, most int) *View {
	v := &View{Sources: func() report.Sources { return report.Sources{} }, t: t, tracks: newTracks(t.Wall()),
		done: make(chan struct{}), exact: exact{t: t.Noting()}, records: records{t: t, kinds: map[string]*Kind{}}}
	v.tracks.most = most
	v.items = sync.OnceValue(func() []advice.Item { return advice.Of(v.facts) })
	v.whole = sync.OnceValue(v.newWhole)
	v.flame = sync.OnceValue(v.newFlame)
	go v.read()
	return v
}

// Wait returns when the trace has been read.
func (v *View) Wait() error {
	<-v.done
	return v.err
}

// newFlame has the times of the trace before, too, if that can be read.
func (v *View) newFlame() *Flame {
	f := newFlame(v.facts.Profile)
	if v.Before != nil && v.Before.Wait() == nil {
		f.compare(v.Before.flame())
	}
	return f
}

func (v *View) read() {
	defer close(v.done)
	var shown, computed error
	trace.Together(v.exact.t, func(s trace.Source) {
		v.tracks.mu.Lock()
		defer v.tracks.mu.Unlock()
		v.lanes, _, shown = lanes.Show(watching{s, &v.records}, v.tracks)
	}, func(s trace.Source) {
		v.facts, computed = advice.Read(s, profile.Within{})
	})
	v.err = errors.Join(shown, computed)
	copy(v.t.Points, v.exact.t.Points) // what the end of the events says of them
}
