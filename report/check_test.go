package report_test

import (
	"strings"
	"testing"

	"qinst.dev/report"
)

// What modes tell is compared by medians, and what differs is counted.
func TestCheck(t *testing.T) {
	run := func(calls uint64, took int64, timed bool) report.CheckRun {
		return report.CheckRun{Wall: 5e6, CPU: 9e6, Procedures: map[string]report.CheckProc{"main.f": {Calls: calls, Took: took, Timed: timed}, "main.g": {Calls: 1, Took: 1e6, Timed: timed}}}
	}
	runs := map[string][]report.CheckRun{
		"count": {run(3, 0, false)},
		"time":  {run(3, 2e6, true), run(3, 9e6, true), run(3, 2e6, true)},
		"trace": {run(4, 3e6, true)},
	}
	var out strings.Builder
	if err := report.Check(&out, []string{"count", "time", "trace"}, runs); err != nil {
		t.Fatal(err)
	}
	want := `of the process   count    time   trace
wall            5.00ms  5.00ms  5.00ms
processor time  9.00ms  9.00ms  9.00ms

calls   count  time  trace
main.f      3     3      4  not equal
main.g      1     1      1

time of all calls  count    time   trace  differ
main.f                 -  2.00ms  3.00ms   50.0%
main.g                 -  1.00ms  1.00ms    0.0%

1 of 2 procedures have calls that are not equal, 1 times that differ by more than 5%
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
