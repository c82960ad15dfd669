package profile

import "qinst.dev/trace"

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
	since int64 // ns: added up to here
}

func newSeries(wall int64) series {
	return series{slice: wall/numSlices + 1, area: make([]float64, numSlices)}
}

// set changes the number.
func (s *series) set(now int64, is float64) {
	for s.since < now {
		k := s.since / s.slice
		end := min(now, (k+1)*s.slice)
		if int(k) < len(s.area) {
			s.area[k] += s.is * float64(end-s.since)
		}
		s.since = end
	}
	s.is = is
}

// means are the averages in each slice of a run of a length.
func (s *series) means(wall int64) []float64 {
	s.set(wall, s.is)
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

func newTimeline(wall int64) timeline {
	return timeline{newSeries(wall), newSeries(wall), newSeries(wall), newSeries(wall)}
}

func (l *timeline) finish(t *trace.Trace) *Timeline {
	out := &Timeline{Slice: l.busy.slice, Busy: l.busy.means(t.Wall), Runnable: l.runnable.means(t.Wall), Alive: l.alive.means(t.Wall), Marking: l.marking.means(t.Wall)}
	for _, m := range t.Metrics {
		out.Heap = append(out.Heap, Heap{m.Time, m.Heap, m.Goal})
	}
	return out
}
