package main

import (
	"strings"

	"qinst.dev/analysis/advice"
)

// kind is a bottleneck, and how the truth of it is known on a page.
type kind struct {
	name string // as package trial has it
	// For how much of the time that one goroutine takes for an item the run is busy with it, and how much of it a lock is held.
	wall, hold float64
	// The name on the page is of the lock, the procedure or the channel; empty for a healthy program.
	subject func(p program) string
	ids     []string                                             // of the conclusions that say it
	truth   func(t truth) float64                                // the number that the program knows
	shown   func(it advice.Item) (value float64, lo, hi float64) // the number on the page, and its interval if it has one
	leaf    func(p program) []string                             // procedures that another tool may name
}

var kinds = []kind{
	{name: "healthy", wall: 0.5},
	{name: "idle", wall: 0.5},
	{name: "lock", wall: 1.5, hold: 1.5, subject: registry, ids: lockIDs, truth: heldTruth, shown: heldShown, leaf: holder},
	{name: "short", wall: 1.5, hold: 1.5, subject: registry, ids: lockIDs, truth: heldTruth, shown: heldShown, leaf: holder},
	{name: "serial", wall: 0.7, subject: func(program) string { return "trial.prepare" }, ids: []string{"one-processor", "serial-procedure"},
		truth: func(t truth) float64 { return float64(t.Serial) }, shown: fact("on its behalf", "self busy"), leaf: names("trial.prepare")},
	{name: "channel", wall: 1, subject: func(program) string { return "handed" }, ids: []string{"small-buffer"},
		truth: func(t truth) float64 { return float64(t.Sent + t.Received) }, shown: fact("senders and receivers waited"), leaf: names("trial.(*stage).send", "trial.pipeline")},
	{name: "slow", wall: 5. / 7, subject: func(program) string { return "trial.parts" }, ids: []string{"unequal-work"},
		truth: func(t truth) float64 { return t.Ratio }, shown: fact("longest over the others"), leaf: names("trial.share")},
	{name: "garbage", wall: 1, subject: func(p program) string { return p.proc }, ids: []string{"garbage-collector"},
		truth: func(t truth) float64 { return t.Garbage }, shown: fact("allocated there"), leaf: func(p program) []string { return []string{p.proc, "trial.Throw"} }},
	{name: "log", wall: 1.5, hold: 1.5, subject: func(program) string { return "log." }, ids: lockIDs, truth: heldTruth, shown: heldShown, leaf: holder},
}

var lockIDs = []string{"contended-lock", "saturated-lock"}

func registry(program) string { return "registry" }

func holder(p program) []string {
	return []string{p.proc, "trial.compute", "trial.spin", "trial.Held", "log.("}
}

func names(list ...string) func(program) []string { return func(program) []string { return list } }

func heldTruth(t truth) float64 { return float64(t.Held) }

// heldShown is how long a lock is said to be held.
func heldShown(it advice.Item) (value, lo, hi float64) {
	for _, f := range it.Evidence {
		switch f.What {
		case "held":
			value = f.Value
		case "held, at least":
			lo = f.Value
		case "held, at most":
			hi = f.Value
		}
	}
	return value, lo, hi
}

// fact returns the first of the named facts that a conclusion has.
func fact(whats ...string) func(advice.Item) (value, lo, hi float64) {
	return func(it advice.Item) (value, lo, hi float64) {
		for _, what := range whats {
			for _, f := range it.Evidence {
				if f.What == what {
					return f.Value, 0, 0
				}
			}
		}
		return 0, 0, 0
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
