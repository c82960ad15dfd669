// Package critpath finds what determines how long a run takes (Broberg, Lundberg and Grahn, VPPB):
// the path through the goroutines that nothing but itself kept waiting, and what each piece of work
// is worth.
//
// The path of the run as it was goes back from the end through what the goroutine did, to whoever
// ended its last wait, and so on. A wait for a processor ends where another goroutine leaves one;
// if one was idle it is a wake-up. So the path covers the run without gaps, and on one processor it
// is all that ran.
//
// Weights are those of a run of the same program that is computed ([predict.Run]): dT/dw for each
// piece of work. They hold on any number of processors, where a path does not: with two processors
// for three goroutines a piece of work may be worth half of its length.
package critpath
