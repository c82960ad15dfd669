// Package correct removes the cost of probes from the times of a trace (Sarukkai and Malony 1993).
//
// Each event has a price, which is subtracted from the work that follows it. The remaining work is
// run again on the recorded processors, which decides all waits anew: one that probes caused is
// gone.
package correct
