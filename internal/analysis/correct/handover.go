package correct

import (
	"math/bits"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// Probes make waits longer, so that processors sleep deeper, and wake up later. So the length of a
// hand-over is fitted by the idle time of its processor, from the hand-overs of this trace.

const (
	numIdle      = 17   // classes of idle times, each twice as long as the one before it, from 1 us on
	leastFitted  = 8    // hand-overs of a class
	mostFitted   = 1024 // of them that are looked at
	usualOfClass = 0.95 // of a class: the longest ones are the system's, which had something else to do
)

// idleClass is the class of an idle time in us.
func idleClass(us uint64) int { return min(bits.Len64(us), numIdle-1) }

// fitted gives hand-overs by how long a processor had been idle.
func (c *correction) fitted() func(steps.StepID, float64) float64 {
	var classes [numIdle][]int64
	for id := 1; id < c.p.Steps.Len(); id++ {
		s := c.p.Step(steps.StepID(id))
		if us, idle := s.Slept(); idle && s.Lasts() > 0 {
			if list := &classes[idleClass(us)]; len(*list) < mostFitted {
				*list = append(*list, s.Lasts())
			}
		}
	}
	var usual [numIdle]float64
	known := -1
	for i, list := range classes {
		if len(list) < leastFitted {
			continue
		}
		slices.Sort(list)
		list = list[:int(usualOfClass*float64(len(list)))]
		for _, ns := range list {
			usual[i] += float64(ns) / float64(len(list))
		}
		for k := known + 1; k < i; k++ {
			if usual[k] = usual[i]; known >= 0 {
				usual[k] = usual[known]
			}
		}
		known = i
	}
	if known < 0 {
		return nil
	}
	for k := known + 1; k < numIdle; k++ {
		usual[k] = usual[known]
	}
	return func(id steps.StepID, idle float64) float64 {
		s := c.p.Step(id)
		if s.Kind == steps.Take {
			return float64(s.Transit())
		}
		if _, was := s.Slept(); idle < 0 || !was {
			return float64(s.Lasts())
		}
		return usual[idleClass(uint64(idle/1000))]
	}
}
