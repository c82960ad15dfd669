package tracetest

import "os"

// Thorough reports whether tests try all cases that they have: with QINST_CASES=all, as the trial
// "thorough" sets it. The tests of a change must end in minutes, and a tenth of the cases finds
// what a change breaks, as a rule.
func Thorough() bool { return os.Getenv("QINST_CASES") == "all" }

// Cases is how many of n random cases a test tries: a tenth, unless it is [Thorough].
func Cases(n int) int {
	if Thorough() {
		return n
	}
	return n / 10
}
