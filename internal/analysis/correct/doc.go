// Package correct takes the cost of probes out of a trace: what its times would have been without
// them (Sarukkai and Malony 1993).
//
// Each event has a price, which is taken from what its goroutine worked behind it. What remains is
// run again on the recorded processors, so that who waits for whom, and for how long, is decided
// anew: a wait that probes caused is gone.
package correct
