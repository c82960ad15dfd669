package tracetest

import "qinst.dev/sddf/spec"

// Switches adds the operating system's records of when threads get processors and lose them. It
// must be called before the first of these.
func (b *Builder) Switches() *Builder {
	b.file.put(spec.TagSource, "switches", b.ticks(), 0, 0, 0)
	b.system = b.newThread()
	return b
}

// Off takes the processor of the machine from g's thread: taken for another thread, or because the
// thread waits.
func (b *Builder) Off(g G, taken bool) {
	kind := uint64(spec.EvOff)
	if taken {
		kind = spec.EvTaken
	}
	b.event(b.system, kind, uint64(b.on(g).id))
}

// On gives g's thread a processor of the machine.
func (b *Builder) On(g G) { b.event(b.system, spec.EvOn, uint64(b.on(g).id), 0) }

// SwitchesLost records that the system had no room for some.
func (b *Builder) SwitchesLost() { b.event(b.system, spec.EvOn, spec.AllThreads, 0) }

// Throttled is a reading of how long the control group was stopped so far, in ns.
func (b *Builder) Throttled(ns int64) {
	b.file.put(spec.TagThrottle, b.ticks(), uint64(ns), 1)
}

// Machine is a reading of steal time, and of the time in which some thread waited for a processor,
// so far, in ns.
func (b *Builder) Machine(steal, pressure int64) {
	b.file.put(spec.TagMachine, b.ticks(), steal, pressure)
}

// Source is the result of a request to the system, 0 or an error.
func (b *Builder) Source(name string, errno uint32) {
	b.file.put(spec.TagSource, name, b.ticks(), errno, uint64(0), uint64(0))
}
