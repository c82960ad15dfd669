// Package report turns analyses into text that a person can read aloud.
package report
