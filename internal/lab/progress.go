package lab

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Progress shows how far a command is: on a terminal in one line that is overwritten and in the end
// erased. Elsewhere the runs of a plan are lines, so that the log of a long one shows where it was,
// and nothing else is shown. There is one for a terminal: what is shown last takes the place of
// what was shown before.
type Progress struct {
	w        io.Writer
	terminal bool

	mu      sync.Mutex
	line    func() string // what is shown; nil: nothing
	from    time.Time     // not before this
	ticking bool
	shown   bool // a line that has no end so far
	broken  bool // what others wrote has no end of a line so far
}

// refresh is how often the line is written again: people see no more.
const refresh = time.Second / 4

// NewProgress returns the progress on w: the same one for a writer that [Progress.Before] returned.
func NewProgress(w io.Writer) *Progress {
	if c, ok := w.(*clearing); ok {
		return c.p
	}
	return &Progress{w: w, terminal: Terminal(w)}
}

// Show shows a line on a terminal from a time on, again and again, until there is another one.
func (p *Progress) Show(after time.Duration, line func() string) {
	if !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line, p.from = line, time.Now().Add(after)
	p.draw()
	if !p.ticking {
		p.ticking = true
		go p.tick()
	}
}

func (p *Progress) tick() {
	for {
		time.Sleep(refresh)
		p.mu.Lock()
		if p.line == nil {
			p.ticking = false
			p.mu.Unlock()
			return
		}
		p.draw()
		p.mu.Unlock()
	}
}

func (p *Progress) draw() {
	p.erase()
	if p.broken || time.Now().Before(p.from) {
		return
	}
	text := []rune("qinst: " + p.line())
	if n := Columns(p.w); n > 0 {
		text = text[:min(len(text), n-1)] // a second line would stay
	}
	fmt.Fprint(p.w, string(text))
	p.shown = true
}

func (p *Progress) erase() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// step shows the begin of a run.
func (p *Progress) step(line func() string) {
	if !p.terminal {
		say(p.w, "%s", line())
		return
	}
	p.Show(0, line)
}

// Clear removes the line.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.line = nil
}

// Before returns the writer for what else is written to the same terminal. Without it that would
// follow the progress on the same line.
func (p *Progress) Before(w io.Writer) io.Writer {
	if _, ok := w.(*clearing); w == nil || !p.terminal || ok {
		return w
	}
	return &clearing{p, w}
}

type clearing struct {
	p *Progress
	w io.Writer
}

func (c *clearing) Write(b []byte) (int, error) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.erase()
	if len(b) > 0 {
		c.p.broken = !bytes.HasSuffix(b, []byte("\n"))
	}
	return c.w.Write(b)
}

// beneath is the writer under one that [Progress.Before] returned: programs that are passed through
// get the terminal itself.
func beneath(w io.Writer) io.Writer {
	if c, ok := w.(*clearing); ok {
		return c.w
	}
	return w
}

// Ends is when work will have ended of which a part is done, if it goes on as fast. It is the zero
// time while too little is done to tell.
func Ends(since time.Time, done, whole float64) (end time.Time) {
	if took := time.Since(since); done > 0 && took >= refresh {
		end = since.Add(time.Duration(float64(took) * whole / done))
	}
	return end
}

// Left says how long work takes yet; nothing if its end is the zero time.
func Left(end time.Time) string {
	if end.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %v left", max(time.Until(end).Round(time.Second), time.Second))
}

func say(w io.Writer, format string, args ...any) {
	if w != nil {
		fmt.Fprintf(w, "qinst: "+format+"\n", args...)
	}
}

// Terminal reports whether w is a terminal: a device for characters, and not the null device.
func Terminal(w io.Writer) bool {
	f, ok := beneath(w).(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(st, null)
}
