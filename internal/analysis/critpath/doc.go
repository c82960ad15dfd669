// Package critpath finds what determines the length of a run (Broberg, Lundberg and Grahn, VPPB):
// the path through the goroutines that waited only for itself, and the worth of each piece of work.
//
// The path of the recorded run goes back from the end through the work of its goroutine, to the
// goroutine that ended its last wait, and so on. A wait for a processor ends where another
// goroutine leaves one; if one was idle it is a wake-up. So the path covers the run without gaps,
// and on one processor it is all that ran.
//
// Weights are those of a run of the same program that is computed ([predict.Run]): dT/dw for each
// piece of work. They hold on any number of processors, where a path does not: with two processors
// for three goroutines a piece of work may be worth half of its length.
package critpath
