package profile

import (
	"slices"
	"strings"
)

// idleMost is the share of an object's waits that are idle by design from which on it is.
const idleMost = 0.9

// markIdle marks the objects that are.
func markIdle(list []Object, wall int64) {
	for i := range list {
		list[i].Idle = list[i].idles(wall)
	}
}

// idles reports whether goroutines wait for an object by design: for the time, for a connection or a signal, or until the
// run or a large part of it is over. Nobody is slower because of such waits.
func (o *Object) idles(wall int64) bool {
	if o.Lock() || o.Wait == 0 {
		return false
	}
	if 5*o.Wait >= 4*wall*o.Waits {
		return true // each wait is most of the run
	}
	var idle int64
	for _, w := range o.EndedBy {
		if w.Reason == endedByTimer || w.Reason == endedByNothing {
			idle += w.Time
		}
	}
	for _, w := range o.WaitedIn {
		if accepts(w.Reason) || strings.HasPrefix(w.Reason, "os/signal.") {
			idle += w.Time
		}
	}
	return float64(idle) >= idleMost*float64(o.Wait)
}

// Serves reports whether goroutines wait for connections: then what waits for the network may wait for requests.
func (o *Object) Serves() bool {
	return slices.ContainsFunc(o.WaitedIn, func(w Wait) bool { return accepts(w.Reason) })
}

func accepts(function string) bool {
	return strings.HasSuffix(function, ".accept") || strings.HasSuffix(function, ".Accept")
}
