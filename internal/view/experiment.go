package view

import (
	"fmt"
	"net/url"

	"qinst.dev/internal/report/experiment"
)

// Tried is the answer about an experiment, which is shown with a trace or alone.
type Tried struct {
	*experiment.Experiment
	File  string `json:"file"`
	Doubt string `json:"doubt,omitempty"` // a reason why it may be of another program than the trace
}

// mostTried bounds that answer, in bytes.
const mostTried = 500_000

// Alone is a view of an experiment without a trace.
func Alone(file string, x *experiment.Experiment) *View {
	v := &View{File: file, tracks: newTracks(0), done: make(chan struct{})}
	close(v.done)
	v.Try(file, x)
	return v
}

// Try shows an experiment in a tab.
func (v *View) Try(file string, x *experiment.Experiment) {
	v.tried = &Tried{File: file, Doubt: v.doubt(x)}
	v.tried.Experiment = x.Within(mostTried - len(file) - len(v.tried.Doubt) - 1000)
}

// doubt is a sentence for an experiment with another program than that of the trace. A trace has no
// hash of its binary, so that two builds of one program look the same.
func (v *View) doubt(x *experiment.Experiment) string {
	if v.t == nil || x.Program == "" {
		return ""
	}
	if program, _ := v.t.Attr("program").(string); program != x.Program {
		return fmt.Sprintf("This experiment is of %.100s, and the trace is of %.100s: expected one program. Names that both have may be of different parts.",
			x.Program, program)
	}
	return ""
}

func (s *Server) experiment(url.Values) (any, error) { return s.view.tried, nil }
