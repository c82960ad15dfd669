package delays

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"qinst.dev/internal/analysis/advice"
)

// FileVersion is that of an [Experiment] as JSON.
const FileVersion = 1

// Experiment is a series of runs with their responses. Results are kept in this form.
type Experiment struct {
	Version int       `json:"version"`
	Program string    `json:"program"`
	Hash    string    `json:"hash"` // of the binary, SHA-256
	Args    []string  `json:"arguments"`
	Machine Machine   `json:"machine"`
	Began   time.Time `json:"began"`
	Seed    uint64    `json:"seed"`
	Unit    string    `json:"unit"`   // of responses: s, or that of a metric
	Metric  string    `json:"metric"` // what the response is, as it was given; "": it is the time that passed
	Alpha   float64   `json:"alpha"`  // the probability that any effect is found where there is none
	Asked   Asked     `json:"asked"`
	Factors []Factor  `json:"factors"` // that can be delayed
	Plans   []Plan    `json:"plans"`
	Notes   []string  `json:"notes"`

	Advice []advice.Item `json:"advice,omitempty"` // conclusions from the first run
}

// Asked identifies the experiment, so that another one is not resumed in its place.
type Asked struct {
	Rules      []string `json:"factors"` // none: they were chosen
	Candidates int      `json:"candidates"`
	Delay      float64  `json:"delay_ns"` // 0: each factor's own
	Procs      []int    `json:"procs"`    // none: as the program has it
	Barriers   bool     `json:"barriers"` // it is about barriers, which the rules name
	Virtual    int      `json:"vcpu"`     // processors that the program hands out itself
	Load       string   `json:"load"`     // command that the program serves; "": it ends by itself
	Input      string   `json:"input"`    // hash of the input of each run, SHA-256; "": it has none
}

// Machine is where it ran.
type Machine struct {
	System     string `json:"system"`
	Processors int    `json:"processors"`
	Procs      int    `json:"gomaxprocs"` // of the first run, or as many as the program hands out; 0: not known
}

// Factor is a part of the program that runs with and without a delay.
type Factor struct {
	ID        string  `json:"id"` // of the point; of a lock that has several operations, the first one's
	Name      string  `json:"name"`
	Construct string  `json:"construct"` // procedure, loop, hold, [Arrival] or [Crossing]
	File      string  `json:"file"`
	Line      int     `json:"line"`
	Rule      string  `json:"rule"`     // that names it, as QINST has it
	Visits    float64 `json:"visits"`   // of the first run; of a loop: iterations
	Takes     float64 `json:"takes_ns"` // processor time of one of them, or how long a lock is held; 0: not known
	Delay     float64 `json:"delay_ns"` // of each visit
	// TakesIn is the interval of Takes, in 95 of 100 runs, if that was divided by samples; null:
	// it was not
	TakesIn *[2]float64 `json:"takes_interval_ns,omitempty"`

	// Weight is dT/dt from the critical path of the first run; null: not known.
	Weight *float64 `json:"weight"`
	// Gain is what a tenth less work there would make the first run shorter by; null: not known.
	Gain  *Gain    `json:"gain"`
	Calls []string `json:"calls,omitempty"` // ids of other factors that are parts of it

	Participants int    `json:"participants,omitempty"` // of a barrier
	Void         string `json:"void,omitempty"`         // why its pair shows nothing
}

// Gain is computed from one run, as "qinst predict" does.
type Gain struct {
	Ns      float64 `json:"ns"`
	Lo      float64 `json:"lo"` // of 9 in 10
	Hi      float64 `json:"hi"`
	Unknown string  `json:"unknown,omitempty"` // why there is none
}

// Label distinguishes the two factors of a barrier.
func (f *Factor) Label() string {
	switch f.Construct {
	case Arrival:
		return f.Name + " (FB1)"
	case Crossing:
		return f.Name + " (FB2)"
	}
	return f.Name
}

// Plan is a set of runs on a number of processors.
type Plan struct {
	Procs      int       `json:"procs"` // GOMAXPROCS; 0: as the program has it
	Stage      Stage     `json:"stage"`
	Design     string    `json:"design"`
	Resolution int       `json:"resolution"`
	Base       []float64 `json:"base"`   // responses of runs without delays, before
	Took       float64   `json:"took_s"` // one of them, the median; 0: not known
	// responses of runs without any probes of the experiment's; none: not known
	Plain []float64 `json:"plain,omitempty"`
	// visits of each factor of the experiment in a run on this number of processors; none: as in
	// the first run
	Parts   []Part `json:"parts,omitempty"`
	Factors []int  `json:"factors"`
	Runs    []Run  `json:"runs"`
	Failed  int    `json:"failed"` // runs that were made again because the program failed
	// runs that took so long that the machine must have done something else, and were made again
	Again   int `json:"again,omitempty"`
	Strange int `json:"strange"` // runs that printed something else than the first one
}

// Part is a factor as a run shows it, as in [Factor].
type Part struct {
	Visits float64  `json:"visits"`
	Takes  float64  `json:"takes_ns"`
	Weight *float64 `json:"weight"`
}

// Stage is the purpose of a plan.
type Stage string

// Stages.
const (
	Screening Stage = "screening" // which factors matter
	Fuller    Stage = "fuller"    // how much these do, and their interactions
	Pairs     Stage = "barriers"  // which barriers are waited at
)

// Run is one run.
type Run struct {
	Block    int     `json:"block"`
	Levels   []int8  `json:"levels"` // of each factor of the plan
	Made     bool    `json:"made"`
	Response float64 `json:"response"`
	Load     float64 `json:"load"` // processes that could run, when it began (the system's mean of a minute)
}

// Read reads an experiment.
func Read(from io.Reader) (*Experiment, error) {
	e := &Experiment{}
	if err := json.NewDecoder(from).Decode(e); err != nil {
		return nil, fmt.Errorf("found something else than the results of qinst spt: %w", err)
	}
	return e, e.Check()
}

// Check returns an error if an experiment that was read is none that can be evaluated.
func (e *Experiment) Check() error {
	if e.Version != FileVersion {
		return fmt.Errorf("found results of version %d, expected %d", e.Version, FileVersion)
	}
	if !(e.Alpha > 0 && e.Alpha < 1) {
		return fmt.Errorf("found a probability of %v that an effect is found where there is none, expected one between 0 and 1", e.Alpha)
	}
	for i, f := range e.Factors {
		if f.Construct == Arrival && (f.Participants < 2 || i+1 == len(e.Factors) ||
			e.Factors[i+1].Construct != Crossing) {
			return fmt.Errorf("found %d participants of barrier %s, expected two or more, and its crossings behind its arrivals", f.Participants, f.Name)
		}
	}
	for i := range e.Plans {
		p := &e.Plans[i]
		for k, f := range p.Factors {
			if f < 0 || f >= len(e.Factors) || slices.Contains(p.Factors[:k], f) {
				return fmt.Errorf("found factor %d in plan %d, expected one of %d, each once", f, i+1,
					len(e.Factors))
			}
		}
		if len(p.Parts) > 0 && len(p.Parts) != len(e.Factors) {
			return fmt.Errorf("found %d parts in plan %d, expected one of each of %d factors", len(p.Parts), i+1,
				len(e.Factors))
		}
		if len(p.Base) == 0 {
			return fmt.Errorf("found no run without delays before plan %d, expected one", i+1)
		}
		for k, r := range p.Runs {
			if len(r.Levels) != len(p.Factors) {
				return fmt.Errorf("found %d levels in run %d of plan %d, expected one of each of its %d factors",
					len(r.Levels), k+1, i+1, len(p.Factors))
			}
		}
	}
	return nil
}

// part is a factor as a run on the plan's number of processors shows it.
func (e *Experiment) part(p *Plan, factor int) Part {
	if len(p.Parts) > 0 {
		return p.Parts[factor]
	}
	f := &e.Factors[factor]
	return Part{f.Visits, f.Takes, f.Weight}
}

// Missing is how many runs were not made.
func (p *Plan) Missing() (n int) {
	for _, r := range p.Runs {
		if !r.Made {
			n++
		}
	}
	return n
}

// Barrier is the result of a barrier's pair of factors. With P participants whose arrivals are
// t_(1) <= .. <= t_(P), and delays of d, a crossing takes FB1 = max_i(t_(i) + (P-i+1)d) - t_(P)
// longer, from d to P*d, and FB2 = P*d. So the difference is 0 if all arrive together, and grows
// with the time for which the early ones wait for the last one, up to (P-1)d.
type Barrier struct {
	Name         string   `json:"name"`
	Participants int      `json:"participants"`
	Crossings    float64  `json:"crossings"`
	Delay        float64  `json:"delay_ns"`
	FB1          *float64 `json:"fb1"` // null if the pair is void
	FB2          *float64 `json:"fb2"`
	Difference   *float64 `json:"difference"`
	SE           *float64 `json:"se"` // of the difference
	Low          *float64 `json:"lo"`
	High         *float64 `json:"hi"`
	Verdict      string   `json:"verdict"`
}

// All are the delays of a run together, in s: what FB2 is if nothing comes between.
func (b *Barrier) All() float64 { return float64(b.Participants) * b.Crossings * b.Delay / 1e9 }

// Constructs of the factors of a barrier, which come in pairs. Both are delays before an arrival,
// in which a lock of the tool's is held.
const (
	Arrival  = "arrival"  // FB1: each waits for those that arrive at the same time
	Crossing = "crossing" // FB2: the same, once all have come together at a barrier of the tool's
)
