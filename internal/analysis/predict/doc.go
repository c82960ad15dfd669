// Package predict computes how long a program would take on other numbers of processors, and the
// gain of changes of it. Both are runs of its steps by package sim, with an interval for the
// variation between runs.
package predict
