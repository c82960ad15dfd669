package predict

import (
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// Version of the JSON form.
const Version = 1

// Result are the runs that a program would have on other numbers of processors. Times are in ns.
type Result struct {
	Version     int        `json:"version"`
	Policy      sim.Policy `json:"policy"`
	Requests    string     `json:"requests,omitempty"` // those that are asked for
	Outside     bool       `json:"outside,omitempty"`  // the run takes as long as the outside wants, so that its times say nothing
	Recorded    Recorded   `json:"recorded"`
	Unexplained int64      `json:"unexplained_ns"` // of the recorded run: measured less computed
	// running threads of the recorded run had no processor, all together
	Off     int64         `json:"off_ns"`
	T1      int64         `json:"t1_ns"`    // on one processor; 0: not known
	TInf    int64         `json:"t_inf_ns"` // on as many as goroutines, mostProcs at most; 0: not known
	Runs    []Of          `json:"runs"`
	WhatIf  []Change      `json:"what_if"`
	Remarks steps.Remarks `json:"notes"`
}

// Recorded is the run that was recorded, and the same one computed.
type Recorded struct {
	Procs  int   `json:"procs"`
	T      int64 `json:"t_ns"`
	Replay int64 `json:"replay_ns"`
}

// Of is the run on a number of processors.
type Of struct {
	Procs int   `json:"procs"`
	T     int64 `json:"t_ns"`
	// 9 runs of 10 take as long at least, as far as lengths differ within the recorded one, which
	// is itself computed with an error
	Lo          int64   `json:"lo_ns"`
	Hi          int64   `json:"hi_ns"`       // and at most
	Speedup     float64 `json:"speedup"`     // over one processor
	Utilization float64 `json:"utilization"` // share of the processors' time that is work
	Collector   int64   `json:"gc_ns"`       // of the work: the collector's
	// some operations on locks and channels come in another order than in the recorded run
	Reordered bool     `json:"order_changed"`
	Request   *Request `json:"request,omitempty"`
	// the computed run is none of the program; there are no times then
	Unknown bool `json:"unknown,omitempty"`
}

// Change is a change of the program with its gain: of the run, or, if requests are asked for, of
// their mean.
type Change struct {
	Change  string  `json:"change"`
	Procs   int     `json:"procs"`
	T       int64   `json:"t_ns"`
	Gain    int64   `json:"gain_ns"`
	GainPct float64 `json:"gain_pct"`
	// 9 times of 10 that is as much at least, as far as lengths differ within the recorded run
	LoPct   float64 `json:"lo_pct"`
	HiPct   float64 `json:"hi_pct"`            // and at most
	Unknown string  `json:"unknown,omitempty"` // why the gain is not known; the numbers say nothing then
}

// Request is how long the requests of a name take. They come when they came.
type Request struct {
	sim.Latency
	Lo int64 `json:"mean_lo_ns"` // 9 times of 10 they take as long at least, on average
	Hi int64 `json:"mean_hi_ns"` // and at most
	// how many are answered in a second, up to the last one, if each client waits for an answer,
	// and then for as long as it did, before it asks again
	PerSecond   float64 `json:"per_second"`
	PerSecondLo float64 `json:"per_second_lo"` // 9 times of 10 as many at least
	PerSecondHi float64 `json:"per_second_hi"` // and at most
}
