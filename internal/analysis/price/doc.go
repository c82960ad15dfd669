// Package price has what the tool's work in a program costs: events by kind, and hits that are only
// counted.
package price
