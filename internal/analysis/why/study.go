package why

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/predict"
)

// FileVersion is that of a [Study] as JSON.
const FileVersion = 1

// FileKind distinguishes a [Study] from other results.
const FileKind = "qinst why"

// Study is all that was measured and computed of a program. Results are kept in this form.
type Study struct {
	Version  int            `json:"version"`
	Kind     string         `json:"kind"`
	Program  Program        `json:"program"`
	Machine  delays.Machine `json:"machine"`
	Began    time.Time      `json:"began"`
	Seed     uint64         `json:"seed"`   // of the experiment's order
	By       float64        `json:"by_pct"` // by how much parts of the program take less
	Runs     []Run          `json:"runs"`
	Bound    string         `json:"bound"` // what bounds the run, in words
	Found    []Candidate    `json:"candidates"`
	Tested   Test           `json:"test"`
	Settings []Setting      `json:"settings"`
	Notes    []string       `json:"notes"`
	// Failed is how the program fails each time; then there is one run, no gain and no test. Empty:
	// it does not.
	Failed string `json:"failed,omitempty"`
}

// Program identifies the program.
type Program struct {
	Name string   `json:"name"`
	Hash string   `json:"hash"` // of the binary, SHA-256
	Args []string `json:"arguments"`
	Load string   `json:"load,omitempty"` // command that it serves; "": it ends by itself
	// Factors are procedures that have probes only for the study.
	Factors []string `json:"factors,omitempty"`
}

// Run is one at the default settings.
type Run struct {
	T    int64   `json:"t_ns"` // of the trace
	Load float64 `json:"load"` // processes that could run, when it began (the system's mean of a minute)
}

// Candidate is a change that may gain something.
type Candidate struct {
	Kind    string           `json:"kind"` // the rule of a conclusion, or [Part]
	Subject advice.Subject   `json:"subject"`
	Change  advice.Change    `json:"change"`
	WhatIf  string           `json:"what_if"` // the change that is predicted; "": none can be
	Text    string           `json:"text"`    // of the conclusion
	Facts   []advice.Fact    `json:"evidence"`
	Gains   []predict.Change `json:"gains"`                     // by run
	AtMost  int64            `json:"gain_at_most_ns,omitempty"` // bound of an unknown gain; 0: there is none
	Defect  bool             `json:"defect,omitempty"`          // it is wrong whatever it costs
	// the gain without any of the part's work, by the first run; null: it grows with the share
	Most *Plateau `json:"plateau,omitempty"`
	// Ends are the gains without any of the part's work, by run, if there is a plateau.
	Ends []float64 `json:"ends_pct,omitempty"`
	// Curve are the gains of a part by the first run, the more the less it does.
	Curve []Share `json:"curve,omitempty"`
	// Factor names the delayed part, as in rules of QINST; "": there is none.
	Factor string `json:"factor,omitempty"`
	// Work is how long all of that takes in the first run, in ns; 0: not known.
	Work float64 `json:"work_ns,omitempty"`
	Busy bool    `json:"busy,omitempty"` // it has much of the processor time
	// Seen is how many runs show a conclusion, or another one about the same part; 0 of other
	// kinds.
	Seen int `json:"seen,omitempty"`
	Late int `json:"late,omitempty"` // the runs before the first that shows it
	// Ruled says that a rule of the program's decides: a limiter, a ticker or a sleep.
	Ruled    bool   `json:"ruled,omitempty"`
	Untested string `json:"untested,omitempty"` // why nothing can be delayed
}

// Part is the kind of a candidate that is less work in a part of the program, and no conclusion.
const Part = "part"

// Share is what a share of less work gains, in percent of the work and of the run.
type Share struct {
	By   float64 `json:"by_pct"`
	Gain float64 `json:"gain_pct"`
}

// Plateau is the gain beyond which less work in a part gains nothing.
type Plateau struct {
	Pct   float64 `json:"pct"`
	Other string  `json:"other,omitempty"` // the part with most of the work that the run then depends on
}

// Test is an experiment with delays, and the same computed.
type Test struct {
	Experiment *delays.Experiment `json:"experiment"` // null: there is none
	// Model are, of each of several runs without delays, the lengths of the computed run with those
	// of each run of the first plan, in s; none: it cannot be computed.
	Model   [][]float64 `json:"model_s"`
	Refused []Refused   `json:"refused"`
}

// Refused is a factor of a candidate that cannot be delayed.
type Refused struct {
	Factor string `json:"factor"`
	Why    string `json:"why"`
}

// Setting is a change that was tried without an editor, by pairs of runs in which nothing is
// recorded.
type Setting struct {
	Text     string    `json:"setting"`            // such as GOGC=400, or -cap=main.jobs=64, a flag of the build
	Kind     string    `json:"kind"`               // of the candidate that it is tried for
	Subject  string    `json:"subject"`            // and what that is about
	Capacity int       `json:"capacity,omitempty"` // of a channel; 0: it is a variable of the Go runtime's
	Base     []float64 `json:"base_s"`
	Change   []float64 `json:"change_s"`
}

// ask is the change as the beginning of a sentence.
func (t *Setting) ask() string {
	if t.Capacity > 0 {
		return fmt.Sprintf("Give %s a capacity of %d", t.Subject, t.Capacity)
	}
	return "Set " + t.Text
}

// Read reads a study.
func Read(from io.Reader) (*Study, error) {
	s := &Study{}
	if err := json.NewDecoder(from).Decode(s); err != nil {
		return nil, fmt.Errorf("found something else than the results of qinst why: %w", err)
	}
	if s.Kind != FileKind || s.Version != FileVersion {
		return nil, fmt.Errorf("found results of kind %q, version %d, expected %q, version %d", s.Kind, s.Version, FileKind, FileVersion)
	}
	for i := range s.Found {
		if n := len(s.Found[i].Gains); n > len(s.Runs) {
			return nil, fmt.Errorf("found %d gains of candidate %d, expected one of each of %d runs", n, i+1, len(s.Runs))
		}
	}
	return s, s.Tested.check()
}

// check returns an error if a test is not whole.
func (t *Test) check() error {
	switch {
	case t.Experiment == nil:
		return nil
	case len(t.Experiment.Plans) == 0:
		return fmt.Errorf("found a test without a plan, expected one")
	}
	for _, model := range t.Model {
		if all := len(t.Experiment.Plans[0].Runs); len(model) != all {
			return fmt.Errorf("found %d computed runs, expected one of each of %d", len(model), all)
		}
	}
	return t.Experiment.Check()
}
