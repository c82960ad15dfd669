package profile

import "qinst.dev/internal/trace"

// Timeline is the run in equal slices of time.
type Timeline struct {
	Slice    int64     `json:"slice_ns"`
	Busy     []float64 `json:"busy"`       // processors, on average
	Runnable []float64 `json:"runnable"`   // goroutines, on a processor or not
	Alive    []float64 `json:"goroutines"` // that there were
	Marking  []float64 `json:"marking"`    // share in which the collector marked
	Heap     []Heap    `json:"heap,omitempty"`
}

// Heap is a reading of the runtime's own numbers, in bytes.
type Heap struct {
	Time int64 `json:"time_ns"`
	Live int64 `json:"live"` // or allocated since the last cycle
	Goal int64 `json:"goal"` // at which the next cycle is to end
}

const numSlices = 200 // of a timeline

// series adds up a number over slices of time.
type series struct {
	slice int64
	area  []float64 // integral, in ns
	is    float64
	since trace.Time // added up to here
}

func newSeries(wall trace.Time) series {
	return series{slice: int64(wall)/numSlices + 1, area: make([]float64, numSlices)}
}

// set changes the number.
func (s *series) set(now trace.Time, is float64) {
	for s.since < now {
		k := int64(s.since) / s.slice
		if k >= int64(len(s.area)) { // after the end of a trace whose times make no sense
			s.since = now
			break
		}
		end := min(now, trace.Time((k+1)*s.slice))
		s.area[k] += s.is * float64(end-s.since)
		s.since = end
	}
	s.is = is
}

// means are the averages in each slice of a run of a length.
func (s *series) means(end trace.Time) []float64 {
	wall := int64(end)
	s.set(end, s.is)
	var list []float64
	for k := range s.area {
		from := int64(k) * s.slice
		if from >= wall {
			break
		}
		list = append(list, s.area[k]/float64(min(s.slice, wall-from)))
	}
	return list
}

// timeline follows the whole process.
type timeline struct{ busy, runnable, alive, marking series }

func newTimeline(wall trace.Time) timeline {
	return timeline{newSeries(wall), newSeries(wall), newSeries(wall), newSeries(wall)}
}

func (l *timeline) finish(wall trace.Time, metrics []trace.Metric) *Timeline {
	out := &Timeline{Slice: l.busy.slice, Busy: l.busy.means(wall), Runnable: l.runnable.means(wall),
		Alive: l.alive.means(wall), Marking: l.marking.means(wall)}
	for _, m := range metrics {
		out.Heap = append(out.Heap, Heap{int64(m.Time), m.Heap, m.Goal})
	}
	return out
}
