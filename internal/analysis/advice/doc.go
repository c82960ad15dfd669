// Package advice draws conclusions from a profile, the critical path and computed runs: a possible
// change, what it gains, and the numbers that support it. A conclusion is data, so that every form
// of a report shows the same ones and scripts can act on them.
//
//	for _, item := range advice.Of(advice.Gather(t, p)) {
//		fmt.Println(item.ID, item.Subject.Name, item.Text)
//	}
//
// Normalized processor time alone supports no advice, because it shows where the run time is spent,
// not how much a change would gain. So each rule must find a cause: a goroutine that waits, an idle
// processor, a part that runs alone. The rules are those of Quartz's Table 2, and some specific to
// Go. A healthy program gets none. The worth of a cause is computed where the trace allows it; it
// decides the order, and what gains nothing is left out.
package advice
