package correct

import "qinst.dev/internal/analysis/steps"

// Version is that of the JSON form.
const Version = 1

// Result is a run as it would have been without probes. Times are in ns.
type Result struct {
	Version int `json:"version"`
	// Measured is how long the run took, and Model how long it would have taken without probes.
	// Optimistic is that if a goroutine that could run did so at once and probes cost the most they
	// may, Pessimistic if they cost the least.
	Measured    int64 `json:"t_measured_ns"`
	Optimistic  int64 `json:"t_optimistic_ns"`
	Model       int64 `json:"t_model_ns"`
	Pessimistic int64 `json:"t_pessimistic_ns"`
	// Actual is the median of plain runs, and 95 of 100 of them are between the other two; 0: there
	// were none.
	Actual       int64         `json:"t_actual_ns"`
	ActualLo     int64         `json:"actual_lo_ns"`
	ActualHi     int64         `json:"actual_hi_ns"`
	Turns        []Turn        `json:"turns,omitempty"`
	Replay       int64         `json:"replay_ns"` // the recorded run as computed, by the policy that explains it best
	Policy       string        `json:"policy"`
	Off          int64         `json:"off_ns"` // running threads of the recorded run had no processor, all together
	Events       int64         `json:"events"`
	CountedShare float64       `json:"counted_share"` // of the removed time: for hits that have no event
	Clamped      int64         `json:"clamped"`       // pieces of work that were shorter than their events' cost
	Flagged      uint64        `json:"flagged"`       // operations whose outcome is kept: selects that did not wait
	Trusted      bool          `json:"trusted"`
	Costs        []Cost        `json:"costs"`
	Procedures   []Procedure   `json:"procedures"`
	Remarks      steps.Remarks `json:"notes"`
}

// Cost is the tool's work of one kind.
type Cost struct {
	Kind     string  `json:"kind"`
	N        uint64  `json:"n"`
	Each     float64 `json:"each_ns"`
	SD       float64 `json:"sd_ns"`
	Total    int64   `json:"total_ns"`
	Measured string  `json:"measured_in"`
}

// Procedure is the processor time of one, without what it calls, as measured and without probes,
// and between which times that is.
type Procedure struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Busy      int64  `json:"busy_ns"`
	Corrected int64  `json:"corrected_ns"`
	Lo        int64  `json:"lo_ns"`
	Hi        int64  `json:"hi_ns"`
}

// Turn is a run with probes that alternated with plain ones. Times are in ns.
type Turn struct {
	Measured    int64 `json:"t_measured_ns"`
	Optimistic  int64 `json:"t_optimistic_ns"`
	Model       int64 `json:"t_model_ns"`
	Pessimistic int64 `json:"t_pessimistic_ns"`
}
