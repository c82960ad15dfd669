// Package price has the prices of the tool's work in a program: of events by kind, and of hits that
// are only counted.
package price
