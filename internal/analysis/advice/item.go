package advice

import "qinst.dev/internal/analysis/profile"

// Item is a conclusion.
type Item struct {
	ID       string  `json:"id"`      // of the rule: stable
	Claim    string  `json:"claim"`   // the conclusion in a few words, the same in every program
	Subject  Subject `json:"subject"` // the part of the program that it is about
	Evidence []Fact  `json:"evidence"`
	Gain     *Gain   `json:"gain"` // nil: not known yet
	Remark   bool    `json:"remark,omitempty"`
	Text     string  `json:"text"`
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

// Gain is by how much the run would be shorter, in ns, if the subject were improved.
type Gain struct {
	Low  int64 `json:"low_ns"`
	High int64 `json:"high_ns"`
}

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
