package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// meter shows how far the work on a trace is, in a line on a terminal. All methods do nothing on
// nil.
type meter struct {
	*lab.Progress
	after time.Duration // before this nothing is shown
}

// metered is how long a command may take until its progress is shown.
const metered = time.Second

// open opens a trace, and shows how far the work on it is until the command has something to say.
func (e *env) open(path string) (*trace.Trace, error) {
	t, err := trace.Open(path)
	if err == nil && e.meter != nil {
		t.Progress = &trace.Progress{}
		e.meter.Show(e.meter.after, work{file: path, done: t.Progress, wall: t.Wall(), began: time.Now()}.line())
	}
	return t, err
}

// end removes the line for good.
func (m *meter) end() {
	if m != nil {
		m.Clear()
	}
}

// work is what is done with a trace.
type work struct {
	file  string
	done  *trace.Progress
	wall  trace.Time
	began time.Time // the work, or its present part
	upTo  trace.Time
}

// line returns what says how far the work is. How many runs are computed depends on what the first
// ones show, so that nothing is said of how long those take yet.
func (w work) line() func() string {
	return func() string {
		read, runs := w.done.Far()
		if read < w.upTo { // it is read once more
			w.began = time.Now()
		}
		w.upTo = read
		name := measure.Visible(filepath.Base(w.file))
		if runs > 0 || read >= w.wall {
			return fmt.Sprintf("computing from %s: %s so far, %d runs", name,
				time.Since(w.began).Round(time.Second), runs)
		}
		return fmt.Sprintf("reading %s: %s%s", name, measure.Percent(int64(read), int64(w.wall)),
			lab.Left(lab.Ends(w.began, float64(read), float64(w.wall))))
	}
}

// ending is the standard output. What a command says takes the place of its progress.
type ending struct {
	m *meter
	w io.Writer
}

func (s *ending) Write(b []byte) (int, error) {
	s.m.end()
	return s.w.Write(b)
}
