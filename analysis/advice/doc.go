// Package advice draws conclusions from a profile: what to change, and what the numbers say for
// it. A conclusion is data: every form of a report shows the same ones, and scripts can act on
// them.
//
//	for _, item := range advice.Of(p) {
//		fmt.Println(item.ID, item.Subject.Name, item.Text)
//	}
//
// Normalized processor time alone supports no advice: it tells where the run time is, not what
// a change would gain. So each rule looks for a cause: somebody who waits, an idle processor, a
// part that runs alone. The rules are those of Quartz's Table 2, and some of Go's own. A
// healthy program gets none.
package advice
