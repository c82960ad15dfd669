// Package experiment is the form in which a page shows experiments: factors, runs with their
// responses, and of each part of the program the predicted effect and the measured one. Commands
// may write it as JSON; [Read] also makes it of the files that qinst spt and qinst doe keep.
package experiment

import "qinst.dev/internal/report/doc"

// Kind distinguishes the form from other JSON, and Version is that of its keys.
const (
	Kind    = "experiment"
	Version = 1
)

// Experiment is an experiment with its result.
type Experiment struct {
	Version  int         `json:"version"`
	Kind     string      `json:"kind"`
	By       string      `json:"by"` // the command that it was made with
	Program  string      `json:"program,omitempty"`
	Hash     string      `json:"hash,omitempty"` // of the binary, SHA-256
	Args     []string    `json:"arguments,omitempty"`
	Response string      `json:"response"`              // the measured quantity
	Unit     string      `json:"unit,omitempty"`        // of responses, effects and predictions: s, or another one
	Seed     *uint64     `json:"seed,string,omitempty"` // of the order of runs; null: not known
	Said     []*doc.Text `json:"said"`                  // the conclusion, then notes
	Plans    []Plan      `json:"plans"`
}

// Plan is a series of runs with its result.
type Plan struct {
	Title      string      `json:"title"`
	Design     string      `json:"design,omitempty"`
	Resolution int         `json:"resolution,omitempty"`
	Procs      int         `json:"procs,omitempty"` // 0: as the program has it
	Factors    []Factor    `json:"factors"`
	Runs       []Run       `json:"runs"`            // in the order in which they were made
	Every      int         `json:"every,omitempty"` // n: one of n runs is listed; 0: all are
	Deviation  float64     `json:"residual_sd,omitempty"`
	Parts      []Part      `json:"parts"` // those first that are shown first
	More       int         `json:"more_parts,omitempty"`
	Said       []*doc.Text `json:"said"`
}

// Factor is varied.
type Factor struct {
	Name string `json:"name"` // of a part of the program: as tables have it
	Kind string `json:"kind,omitempty"`
	Low  string `json:"low"` // its levels, in words
	High string `json:"high"`
}

// Run is one run.
type Run struct {
	Block    int      `json:"block"`
	Levels   string   `json:"levels"` // of the plan's factors: -, + or, halfway, 0
	Response float64  `json:"response"`
	Residual *float64 `json:"residual,omitempty"` // the response without the effects that were found
}

// Part is a statement about the program that was predicted, measured, or both: the effect of a
// factor, the interaction of several, or the gain of a change.
type Part struct {
	Names       []string  `json:"names"`                  // of factors, or of parts of the program
	Measured    *Interval `json:"measured,omitempty"`     // null: it was not
	Predicted   *Interval `json:"predicted,omitempty"`    // for the same levels; null: it was not
	PredictedBy string    `json:"predicted_by,omitempty"` // the model
	Found       bool      `json:"found"`                  // the measured value is more than noise
	Verdict     string    `json:"verdict"`                // in a few words
	Note        string    `json:"note,omitempty"`         // in a sentence
	Curve       []Point   `json:"curve,omitempty"`        // the prediction by the share of less work, in percent
}

// Point is a point of a curve.
type Point struct {
	At    float64 `json:"at"`
	Value float64 `json:"value"`
}

// Interval is a value, and between which ones it may be.
type Interval struct {
	Value float64  `json:"value"`
	SE    *float64 `json:"se,omitempty"` // standard error
	Low   *float64 `json:"lo,omitempty"`
	High  *float64 `json:"hi,omitempty"`
}

// About is an interval of a value with its standard error.
func About(value, se, low, high float64) *Interval { return &Interval{value, &se, &low, &high} }
