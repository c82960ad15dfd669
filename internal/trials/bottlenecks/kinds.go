package bottlenecks

import (
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/advice"
)

// kind is a bottleneck, and how the truth of it is known on a page.
type kind struct {
	name string // as package trial has it
	// For how much of the time that one goroutine takes for an item the run is busy with it, and
	// how much of it a lock is held.
	wall, hold, garbage float64 // and how many bytes are garbage for a ns of the item
	// The name on the page is of the lock, the procedure or the channel; empty for a healthy
	// program.
	subject func(p program) string
	ids     []string              // of the conclusions that say it
	truth   func(t truth) float64 // the number that the program knows
	// the number on the page, and its interval if it has one
	shown  func(it advice.Item) (value float64, lo, hi float64)
	number func(x float64) string // how it is written
	// it is known only where the work of an item is one goroutine's
	alone bool
	leaf  func(p program) []string // procedures that another tool may name
}

var kinds = []kind{
	{name: "healthy", wall: 0.5},
	{name: "idle", wall: 0.5},
	{name: "lock", number: seconds, wall: 1.5, hold: 1.5, subject: audit, ids: lockIDs, truth: heldTruth,
		shown: interval("held"), leaf: holder},
	{name: "short", number: seconds, wall: 1.5, hold: 1.5, subject: audit, ids: lockIDs, truth: heldTruth,
		shown: interval("held"), leaf: holder},
	{name: "serial", number: seconds, wall: 0.7, alone: true, subject: func(program) string { return "trial.prepare" },
		ids:   []string{"one-processor", "serial-procedure"},
		truth: func(t truth) float64 { return float64(t.Serial) }, shown: interval("on its behalf", "alone"),
		leaf: names("trial.prepare")},
	{name: "channel", number: seconds, wall: 1, subject: func(program) string { return "handed" },
		ids:   []string{"small-buffer"},
		truth: func(t truth) float64 { return float64(t.Sent + t.Received) },
		shown: interval("senders and receivers waited"), leaf: names("trial.(*stage).send", "trial.pipeline")},
	{name: "slow", number: ratio, wall: 5. / 7, alone: true, subject: func(program) string { return "trial.parts" },
		ids:   []string{"unequal-work"},
		truth: func(t truth) float64 { return t.Ratio }, shown: interval("longest over the others"),
		leaf: names("trial.share")},
	{name: "garbage", number: percent, wall: 1, garbage: 1, subject: func(p program) string { return p.proc },
		ids:   []string{"garbage-collector"},
		truth: func(t truth) float64 { return t.Garbage }, shown: interval("allocated there"),
		leaf: func(p program) []string { return []string{p.proc} }},
	{name: "log", number: seconds, wall: 1.5, hold: 1.5, subject: func(program) string { return "log." }, ids: lockIDs,
		truth: func(t truth) float64 { return float64(t.Waited) }, shown: interval("waited until they ran again"),
		leaf: holder},
}

var lockIDs = []string{"contended-lock", "saturated-lock"}

func seconds(ns float64) string { return fmt.Sprintf("%.2f s", ns/1e9) }

func ratio(x float64) string { return fmt.Sprintf("%.2f", x) }

func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

func audit(program) string { return "audit" }

func holder(p program) []string {
	return []string{p.proc, "trial.compute", "trial.spin", "trial.Held", "log.("}
}

func names(list ...string) func(program) []string { return func(program) []string { return list } }

func heldTruth(t truth) float64 { return float64(t.Held) }

// interval returns the first of the named facts that a conclusion has, and its interval.
func interval(whats ...string) func(advice.Item) (value, lo, hi float64) {
	return func(it advice.Item) (value, lo, hi float64) {
		has := map[string]float64{}
		for _, f := range it.Evidence {
			has[f.What] = f.Value
		}
		for _, what := range whats {
			lo, hi = has[what+", at least"], has[what+", at most"]
			if value = has[what]; value+lo+hi > 0 {
				break
			}
		}
		return value, lo, hi
	}
}

// says reports whether a conclusion is the truth about a case.
func (k *kind) says(it advice.Item, p program) bool {
	for _, id := range k.ids {
		if it.ID == id {
			return strings.Contains(it.Subject.Name, k.subject(p))
		}
	}
	return false
}
