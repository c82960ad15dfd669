package profile

import (
	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// samples divide times among contexts and lines of procedures, and show the cost of probes in a
// whole trace.
type samples struct {
	*sampled
	text   text
	probed map[replay.GroupID]bool // whose goroutines they found in procedures with points
	whole  bool                    // see [price.Whole]
	seen   price.Seen
}

func newSamples(r *replay.Replay) samples {
	return samples{sampled: newSampled(r), text: text{}, probed: map[replay.GroupID]bool{}, whole: price.Whole(r.T)}
}

// add adds a sample of a goroutine, with the number of busy processors, 0 in a system call. It
// returns the context that it found, and whether that is the program's, and not of a probe.
func (x *samples) add(g *replay.G, s trace.Sampled, busy int) (at replay.ContextID, program bool) {
	weight, group := float64(max(s.Gap, 1)), x.r.Contexts.Node(g.Context).Group
	if s.Code != 0 {
		x.inText += weight
	}
	if x.r.InProbed(s) {
		x.inProbed += weight
	}
	if x.r.InProcedure(s) {
		x.probed[group] = true
	}
	at, probe := x.r.Found(g, s)
	if probe {
		x.probes++
		at = x.r.Outside(x.r.System.Probes, replay.RootTool, group)
	} else {
		x.text.note(x.r, at, s.Code, busy, weight)
	}
	x.note(g.Context, at, busy, weight, s.Code != 0)
	return at, !probe
}
