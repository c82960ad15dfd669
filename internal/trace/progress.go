package trace

import "sync/atomic"

// Progress is how far work on a trace is. The goroutines that do it note that, and whoever wants to
// know looks at it from time to time. To note it costs a store for a thousand events. Nobody need
// watch: all methods do nothing on nil.
type Progress struct{ read, runs atomic.Int64 }

// Reads notes that the events up to a time have been read.
func (p *Progress) Reads(at Time) {
	if p != nil {
		p.read.Store(int64(at))
	}
}

// Run notes that one more run is computed from the events.
func (p *Progress) Run() {
	if p != nil {
		p.runs.Add(1)
	}
}

// Far is up to which time events have been read, and how many runs were begun to be computed.
func (p *Progress) Far() (read Time, runs int) {
	if p == nil {
		return 0, 0
	}
	return Time(p.read.Load()), int(p.runs.Load())
}
