package advice

import (
	"strings"

	"qinst.dev/internal/analysis/profile"
)

// Item is a conclusion.
type Item struct {
	ID       string  `json:"id"`      // of the rule: stable
	Claim    string  `json:"claim"`   // the conclusion in a few words, the same in every program
	Subject  Subject `json:"subject"` // the part of the program that it is about
	Change   Change  `json:"change,omitempty"`
	WhatIf   string  `json:"what_if,omitempty"` // for "qinst predict", which computes the gain; empty: it cannot
	Evidence []Fact  `json:"evidence"`
	Gain     *Gain   `json:"gain"`                      // nil: not known
	AtMost   int64   `json:"gain_at_most_ns,omitempty"` // then, if there is a bound
	Remark   bool    `json:"remark,omitempty"`
	Defect   bool    `json:"defect,omitempty"` // it is wrong whatever it costs
	Text     string  `json:"text"`
	// Delays are the objects at which other goroutines wait because of it.
	Delays []Subject `json:"delays,omitempty"`

	holder   string // the procedure that has a lock while goroutines wait for it
	waiter   string // the id of the one that waits for a batch
	upTo     string // a greater change than WhatIf of the same kind, which gains most
	likely   int64  // its bound in a run on a machine as busy as in this one, if that is less
	onPath   int64  // what its change may take from the path, in ns; 0: not known
	computed bool   // it is one only if a computed run gains
	partly   bool   // its change is one of all of something, of which a program will do away with a part
}

// Identity is common to the same conclusion of several runs, or builds, of a program.
func (it *Item) Identity() string {
	return strings.Join([]string{it.ID, it.Subject.Kind, it.Subject.Name}, " ")
}

// Subject is a line of the profile, or the whole run.
type Subject struct {
	Kind string `json:"kind"` // of an entry: proc, loop, sync, goroutine; "run"
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Fact is a number that supports a conclusion.
type Fact struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // ns, share (of one), count, ratio
}

// Gain is by how much the run would be shorter with the change, in ns, by a computed run, and the
// interval in which that is 9 times of 10.
type Gain struct {
	Low  int64 `json:"low_ns"`
	Ns   int64 `json:"ns"`
	High int64 `json:"high_ns"`
}

// Change is what a conclusion asks for.
type Change string

// Changes.
const (
	ShortenHold     Change = "shorten the hold"
	MoveOut         Change = "move work out of the lock"
	Split           Change = "split it"
	LargerBuffer    Change = "larger buffer"
	Batch           Change = "batch"
	MoreWorkers     Change = "more workers or permits"
	Balance         Change = "balance"
	StartTogether   Change = "start together"
	WaitForEvent    Change = "wait for an event instead of polling"
	LessWork        Change = "less work"
	FewerGoroutines Change = "fewer goroutines"
	RaiseGC         Change = "raise the GC goal"
	Procs           Change = "GOMAXPROCS"
	Release         Change = "release"
	Unlock          Change = "unlock"
	Signal          Change = "Signal instead of Broadcast"
	FixMachine      Change = "fix the machine"
)

// run is the whole run as a subject.
var run = Subject{Kind: "run"}

func about(e *profile.Entry) Subject { return Subject{e.Kind, e.ID, e.Name, e.File, e.Line} }

func aboutObject(o *profile.Object) Subject {
	return Subject{profile.KindSync, "sync:" + o.Name, o.Name, o.File, o.Line}
}

func ns(what string, v int64) Fact { return Fact{what, float64(v), "ns"} }

func share(what string, v float64) Fact { return Fact{what, v, "share"} }

func count[T int | int64 | uint64](what string, v T) Fact { return Fact{what, float64(v), "count"} }

func number(what string, v float64) Fact { return Fact{what, v, "ratio"} }
