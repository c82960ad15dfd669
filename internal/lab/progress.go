package lab

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// progress shows how far a plan is: on a terminal in one line that is overwritten, otherwise in
// lines, so that the log of a long run shows where it was.
type progress struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex
	shown bool // a line that has no end so far
}

func newProgress(w io.Writer) *progress { return &progress{w: w, terminal: Terminal(w)} }

func (p *progress) step(format string, args ...any) {
	if !p.terminal {
		say(p.w, format, args...)
		return
	}
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "qinst: "+format, args...)
	p.shown = true
}

// clear removes the line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// before returns the writer for a program that writes to the same terminal. Without it the
// program's first line would follow the progress on the same line.
func (p *progress) before(w io.Writer) io.Writer {
	if w == nil || !p.terminal {
		return w
	}
	return &clearing{p, w}
}

type clearing struct {
	p *progress
	w io.Writer
}

func (c *clearing) Write(b []byte) (int, error) {
	c.p.clear()
	return c.w.Write(b)
}

func say(w io.Writer, format string, args ...any) {
	if w != nil {
		fmt.Fprintf(w, "qinst: "+format+"\n", args...)
	}
}

// Terminal reports whether w is a terminal: a device for characters, and not the null device.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
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
