// Package profile computes the profile of Quartz (Anderson and Lazowska, "Quartz:
// A Tool for Tuning Parallel Program Performance", 1989), exactly, from a trace.
//
// Its metric is normalized processor time (NPT, their equation 1): the processor
// time of a section of code, each moment of it divided by the number of
// processors that are busy at that moment. A section that runs alone counts in
// full, one that runs while P processors are busy counts 1/P. So the NPT of
// everything adds up to the time during which any processor was busy, and with
// the idle time to the run time.
//
// The metric tells where the time is spent, not always how much a change would gain: code outside
// a saturated critical section has a high NPT (section 3.2.5 of the paper). So it must never be
// shown alone, but beside busy, ready, blocked and system call times.
//
// # Method
//
// Every goroutine has a profile stack: its open procedures on top of a copy of its creator's
// stack at the moment of creation. Time is charged to the procedure on top (self) and to the set
// of all procedures on the stack (on behalf of). Sets are interned in a tree, in the order in
// which their members were first entered, so that recursion adds nothing and a million goroutines
// created at one place share one set. A procedure's inclusive time is the sum over the sets that
// contain it.
//
// Times are kept as integers, one for each number of busy processors, because then nothing is
// rounded before the last division.
package profile
