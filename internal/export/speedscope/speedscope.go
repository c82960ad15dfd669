// Package speedscope writes a profile for speedscope: JSON in its own file format.
//
//	kind of time           a profile of its own: npt, busy, spin, blocked, ready, syscall, off-CPU
//	a call path            a sample; paths lead through goroutines to their creators
//	its own time           the weight of the sample, in ns
//	a procedure            a frame, with file and first line
//	no processor was busy  a sample "[no processor busy]" of npt
//
// Lost are the order in time, loops, and names of objects: the profile is a sum over the run.
package speedscope

import (
	"encoding/json"
	"io"

	"qinst.dev/internal/analysis/profile"
)

// file is the file format.
type file struct {
	Schema   string    `json:"$schema"`
	Name     string    `json:"name"`
	Exporter string    `json:"exporter"`
	Active   int       `json:"activeProfileIndex"`
	Shared   shared    `json:"shared"`
	Profiles []weights `json:"profiles"`
}

type shared struct {
	Frames []frame `json:"frames"`
}

type frame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

type weights struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int64   `json:"startValue"`
	End     int64   `json:"endValue"`
	Samples [][]int `json:"samples"`
	Weights []int64 `json:"weights"`
}

// Write writes the stacks of a profile.
func Write(to io.Writer, p *profile.Profile) error {
	f := file{Schema: "https://www.speedscope.app/file-format-schema.json", Name: p.Program, Exporter: "qinst",
		Shared: shared{[]frame{}}}
	index := map[frame]int{}
	number := func(x frame) int {
		n, ok := index[x]
		if !ok {
			n = len(f.Shared.Frames)
			index[x], f.Shared.Frames = n, append(f.Shared.Frames, x)
		}
		return n
	}
	for _, t := range profile.StackTimes {
		f.Profiles = append(f.Profiles, weights{Type: "sampled", Name: t.Name, Unit: "nanoseconds", Samples: [][]int{},
			Weights: []int64{}})
	}
	for st := range p.Stacks() {
		var path []int
		for i := range st.Frames {
			x := &st.Frames[len(st.Frames)-1-i]
			path = append(path, number(frame{x.Name, x.File, x.Line}))
		}
		if len(path) == 0 {
			path = []int{number(frame{Name: "[no procedure]"})}
		}
		for i, t := range profile.StackTimes {
			f.Profiles[i].add(path, t.Of(&st))
		}
	}
	f.Profiles[0].add([]int{number(frame{Name: "[no processor busy]"})}, p.Idle)
	return json.NewEncoder(to).Encode(f)
}

func (w *weights) add(path []int, ns int64) {
	if ns != 0 {
		w.Samples, w.Weights, w.End = append(w.Samples, path), append(w.Weights, ns), w.End+ns
	}
}
