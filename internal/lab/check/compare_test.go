package check_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/lab/check"
)

// What modes tell is compared by medians, and what differs is counted.
func TestCompare(t *testing.T) {
	run := func(calls int64, took int64, timed bool) check.Run {
		return check.Run{Wall: 5e6, CPU: 9e6, Procedures: map[string]check.Procedure{"main.f": {Calls: calls,
			Took: took, Timed: timed}, "main.g": {Calls: 1, Took: 1e6, Timed: timed}}}
	}
	runs := map[string][]check.Run{
		"count": {run(3, 0, false)},
		"time":  {run(3, 2e6, true), run(3, 9e6, true), run(3, 2e6, true)},
		"trace": {run(4, 3e6, true)},
	}
	t.Parallel()
	var out strings.Builder
	if err := check.Compare([]string{"count", "time", "trace"}, runs).Doc().WriteText(&out); err != nil {
		t.Fatal(err)
	}
	want := `1 of 2 procedures have calls that are not equal, 1 times that differ by more than 5%
of the process   count    time   trace
wall            5.00ms  5.00ms  5.00ms
processor time  9.00ms  9.00ms  9.00ms

CALLS
  procedure  count  time  trace
  main.f         3     3      4  not equal
  main.g         1     1      1

TIME OF ALL CALLS
  procedure  count    time   trace  differ
  main.f         -  2.00ms  3.00ms   50.0%
  main.g         -  1.00ms  1.00ms    0.0%
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
