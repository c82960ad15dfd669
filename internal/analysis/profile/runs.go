package profile

import (
	"fmt"
	"io"
	"math"

	"qinst.dev/internal/stats"
)

// Spread summarizes one number over several runs: its mean, and a 95 % confidence interval of the
// mean (Student's t).
type Spread struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// RunEntry is a section over runs; times are in ns. A run that did not reach it counts as 0.
type RunEntry struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Calls   Spread `json:"calls"`
	SelfNPT Spread `json:"self_npt_ns"`
	NPT     Spread `json:"npt_ns"`
	Busy    Spread `json:"busy_ns"`
	Blocked Spread `json:"blocked_ns"`
	// CallsMark is "~" if calls of a run are an estimate, "≥" if there are so many or more.
	CallsMark string `json:"calls_mark,omitempty"`
}

// Runs is the summary of several runs of one program.
type Runs struct {
	Version int        `json:"version"`
	Runs    int        `json:"runs"`
	Wall    Spread     `json:"wall_ns"`
	Entries []RunEntry `json:"entries"`
	Notes   []string   `json:"notes,omitempty"`
}

// Over compares runs of one program, at least two. The entries are those of sum, the merged
// profile or a part of it.
func Over(list []*Profile, sum *Profile) (*Runs, error) {
	if len(list) < 2 {
		return nil, fmt.Errorf("found %d, expected two or more runs: intervals are of what differs between them",
			len(list))
	}
	r := &Runs{Version: Version, Runs: len(list), Notes: sum.Notes[1:]} // the first: several runs
	r.Wall = spread(len(list), func(k int) int64 { return list[k].Wall })
	index := make([]map[[2]string]*Entry, len(list))
	for k, p := range list {
		index[k] = map[[2]string]*Entry{}
		for _, entries := range [][]Entry{p.Entries, p.Packages()} {
			for i := range entries {
				index[k][[2]string{entries[i].Kind, entries[i].ID}] = &entries[i]
			}
		}
	}
	for i := range sum.Entries {
		e := &sum.Entries[i]
		of := func(get func(*Entry) int64) Spread {
			return spread(len(list), func(k int) int64 {
				if q := index[k][[2]string{e.Kind, e.ID}]; q != nil {
					return get(q)
				}
				return 0
			})
		}
		r.Entries = append(r.Entries, RunEntry{e.ID, e.Kind, e.Name,
			of(func(e *Entry) int64 { return int64(e.Calls) }), of(func(e *Entry) int64 { return e.SelfNPT }),
			of(func(e *Entry) int64 { return e.NPT }), of(func(e *Entry) int64 { return e.Busy }),
			of(func(e *Entry) int64 { return e.Blocked }), e.Called().Mark()})
	}
	return r, nil
}

// JSON writes it as one JSON object.
func (r *Runs) JSON(w io.Writer) error { return writeJSON(w, r) }

// spread summarizes a number over two or more runs.
func spread(runs int, get func(k int) int64) Spread {
	samples := make([]int64, runs)
	for k := range samples {
		samples[k] = get(k)
	}
	m, err := stats.Mean(samples)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return Spread{math.Round(m.Mean), math.Round(m.Low), math.Round(m.High)}
}
