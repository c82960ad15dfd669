// Package qinst is what programs may say to the tool that observes them: names
// for goroutines and for regions of their work. In a program that is not built
// with qinst all of it does nothing, and it imports nothing.
//
//	func worker(id int) {
//		qinst.Name("worker")
//		defer qinst.Region("load").End()
package qinst

// Name gives the calling goroutine a name, by which reports group goroutines
// from then on.
func Name(name string) { setName(name) }

// A Span is a region that was entered; see [Region].
type Span struct{ region uint32 }

// Region begins a region of the calling goroutine's work: reports tell what was
// used in all regions of one name. The goroutine that began a region must end it.
func Region(name string) Span { return Span{beginRegion(name)} }

// End ends the region.
func (s Span) End() { endRegion(s.region) }
