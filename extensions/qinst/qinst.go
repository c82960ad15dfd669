// Package qinst lets programs give information to the tool that observes them: names for
// goroutines and for regions of their work. In a program that is not built with qinst its
// functions do nothing, and it imports nothing.
//
//	func worker(id int) {
//		qinst.Name("worker")
//		defer qinst.Region("load").End()
package qinst

// Name gives the calling goroutine a name, by which reports group goroutines from then on.
func Name(name string) { setName(name) }

// SetRate changes how much of points is recorded from now on, as a setting in QINST does. Points
// are selected by name, in which * stands for any characters, or by kind ("main.(*Cache).*",
// "kind:loop"). The limit is a rate ("1e4/s", "1e4/s+500", "1e4/s:count") or a level ("off",
// "count", "time", "trace"), or a delay of each hit ("+5us"). It returns an error if one of them is
// not understood. In a program that is not observed it does nothing.
func SetRate(points, limit string) error {
	nearest, ok := setRate(points, limit)
	if ok {
		return nil
	}
	if nearest != "" {
		nearest = "; the nearest is " + nearest
	}
	return rateError("qinst: found " + points + "=" + limit +
		", expected points and a rate such as 1e4/s, 1e4/s+500 or 1e4/s:count, or a level: off, count, time or trace, or a delay such as +5us, of a barrier +1ms or +1ms+0ns*3" + nearest)
}

// Snapshot writes the contents of a flight recorder (QINST=mode=flight) to a file and returns its
// name; "" in a program that runs without one.
func Snapshot() (file string) { return snapshot() }

type rateError string

func (e rateError) Error() string { return string(e) }

// A Span is a region that was entered; see [Region].
type Span struct{ region uint32 }

// Region begins a region of the calling goroutine's work: reports show the usage in all regions
// of one name. The goroutine that began a region must end it.
func Region(name string) Span { return Span{beginRegion(name)} }

// End ends the region.
func (s Span) End() { endRegion(s.region) }
