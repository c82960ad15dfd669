// Package predict says how long a program would take on other numbers of processors, and what a
// change of it would gain. Both are computed runs of its steps, by package sim; an interval says
// how far the next run of the same program may be off.
package predict
