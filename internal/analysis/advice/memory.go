package advice

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/sddf/spec"
)

// How loops use memory is in their text, which the build flags: see [spec.FlagStrides] and
// [spec.FlagNeighbors]. That it costs much is in samples: a line is slow for what it does.

const (
	// slowLine is the least share of a procedure's own time that such a line takes, with so many
	// lines before and after it.
	slowLine, nextLines = 0.3, 2
	// lastingCall is how many ns a call takes at least that has an element for itself: shorter ones
	// have it one after another.
	lastingCall = 1e6
	// lowInCache and highInCache are the parts of a slow line's time for which the two ends of the
	// gain are computed. The lower end is halved, and the upper one raised by a quarter, as of all
	// changes that are made in part: about half of that time to all of it. Four repaired programs
	// lost 81 to 94 % of their runs.
	lowInCache, highInCache = 0.95, 0.8
)

// farMemory finds procedures that wait for memory in most of their time.
func farMemory(f *Facts) (out []Item) {
	for i := range f.Entries {
		e := &f.Entries[i]
		if !Written(e) || len(e.Lines) == 0 {
			continue
		}
		flags := f.flagsOf(e.Name)
		line, part := slowLines(e)
		if flags&(spec.FlagStrides|spec.FlagNeighbors) == 0 || part < slowLine {
			continue
		}
		it := Item{Subject: about(e), WhatIf: fmt.Sprintf("self:%s=-%.0f%%", e.Name, 100*part*lowInCache), partly: true,
			upTo:     fmt.Sprintf("self:%s=-%.0f%%", e.Name, 100*part*highInCache),
			Evidence: []Fact{ns("its own work is worth", f.worthOf(e)), share("of its own time in the line at least", part)}}
		it.Subject.Line = line
		switch beside := 2*e.SelfAlone <= e.SelfBusy; {
		case flags&spec.FlagNeighbors != 0 && beside && e.Calls > 1 && e.SelfBusy/int64(e.Calls) >= lastingCall:
			it.ID, it.Claim, it.Change = "false-sharing", "goroutines write to neighbors in memory", Split
			it.Text = fmt.Sprintf("let each goroutine write to a variable of its own in %s, or to elements of at least 64 bytes: neighbors in a slice may share a cache line, which each write then takes from the other processor. That line and those next to it take %.0f %% of the own time of %s or more",
				at(&it.Subject), 100*part, e.Name)
		case flags&spec.FlagStrides != 0:
			it.ID, it.Claim, it.Change = "across-memory", "a loop goes across memory", LessWork
			it.Text = fmt.Sprintf("exchange the loops around %s, or store columns in a row: each iteration of the inner loop touches another cache line. That line of the text and those next to it take %.0f %% of the own time of %s or more",
				at(&it.Subject), 100*part, e.Name)
		default:
			continue
		}
		out = append(out, it)
	}
	return out
}

// slowLines is the line that takes most of a procedure's own time, and the least share of that
// which it takes with those next to it: a processor may be seen at an instruction after the one it
// waits for.
func slowLines(e *profile.Entry) (line int, part float64) {
	most := slices.MaxFunc(e.Lines, func(x, y profile.LineTime) int { return cmp.Compare(x.SelfNPT, y.SelfNPT) })
	for _, l := range e.Lines {
		if l.Line >= most.Line-nextLines && l.Line <= most.Line+nextLines {
			part += measure.Ratio(l.SelfNPTs.Low, e.SelfNPT)
		}
	}
	return most.Line, part
}

// flagsOf are the flags of a procedure.
func (f *Facts) flagsOf(name string) (flags uint32) {
	if f.Program == nil {
		return 0
	}
	for i := range f.Program.R.T.Points {
		if p := &f.Program.R.T.Points[i]; p.Name == name && (p.Kind == spec.PointProc || p.Kind == spec.PointFunc) {
			flags |= p.Flags
		}
	}
	return flags
}
