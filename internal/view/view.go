// Package view shows a trace in a browser: an application on this machine, for which a server
// reduces the trace to the pixels at hand.
//
// The interface is below /api/v1, answers in JSON, and knows no other method than GET. Times are ns
// since the trace began.
//
//	trace                                      the run: program, length, processors, statements, warnings
//	items                                      conclusions, as "qinst report -json" has them under advice,
//	                                           with the command that checks their gains
//	tracks                                     lanes, those of each group with most time first
//	timeline?from&to&px&tracks=ID,ID           slices of tracks between two times, for so many pixels
//	bands?from&to&px[&item]                    pictures of the run, of a conclusion if there is one
//	path?from&to&px                            pieces of the path between two times
//	table                                      entries of the profile
//	flame                                      call paths, from the outside in
//
// Parameters that make no sense are answered with 400, an unknown path with 404.
package view

import (
	"sync"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// View is a trace that is shown.
type View struct {
	File string // its name, for commands

	t      *trace.Trace
	tracks *tracks
	lanes  lanes.Left
	facts  *advice.Facts
	items  func() []advice.Item
	flame  func() *Flame
	whole  func() *critpath.Result // with its path; nil: there is none
}

// New reads a trace.
func New(t *trace.Trace) (*View, error) {
	v := &View{t: t, tracks: newTracks()}
	var failed [2]error
	trace.Together(t, func(s trace.Source) {
		v.lanes, _, failed[0] = lanes.Show(s, v.tracks)
	}, func(s trace.Source) {
		v.facts, failed[1] = advice.Read(s, profile.Within{})
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	v.tracks.end = t.Wall()
	v.items = sync.OnceValue(func() []advice.Item { return advice.Of(v.facts) })
	v.whole = sync.OnceValue(v.newWhole)
	v.flame = sync.OnceValue(func() *Flame { return newFlame(v.facts.Profile) })
	return v, nil
}
