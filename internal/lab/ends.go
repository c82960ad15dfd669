package lab

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// grace is how long an operation may take to return by itself once a signal has ended its context.
const grace = 300 * time.Millisecond

// ends is the state for the end of this process by a signal.
var ends struct {
	sync.Mutex
	once      sync.Once
	temporary map[Temporary]bool
	attached  int       // programs that signals are left to
	until     time.Time // time limit of programs that were asked to end
}

// EndBySignals makes the first interrupt, or request to terminate, end this process by exit, also
// while it reads a long trace and checks no context. Temporary files are removed before. An
// operation that returns by itself has the time for it, and for the programs that it has started:
// contexts of [Signals] end by the same signal. While a program runs that signals are left to, it
// decides. The second signal ends the process at once.
func EndBySignals(exit func(status int)) { ends.once.Do(func() { endBySignals(exit) }) }

func endBySignals(exit func(status int)) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-got
		for leftToPrograms() {
			s = <-got
		}
		signal.Stop(got)
		for wait := grace; wait > 0; {
			time.Sleep(wait)
			ends.Lock()
			wait = time.Until(ends.until)
			ends.Unlock()
		}
		ends.Lock() // no temporary file is made after this
		for t := range ends.temporary {
			_ = os.RemoveAll(string(t))
		}
		exit(128 + int(s.(syscall.Signal)))
	}()
}

func leftToPrograms() bool {
	ends.Lock()
	defer ends.Unlock()
	return ends.attached > 0
}

// leaveSignals says that signals are left to a program, or not any more.
func leaveSignals(n int) {
	ends.Lock()
	defer ends.Unlock()
	ends.attached += n
}

// endsProgram notes that a program was asked to end.
func endsProgram() {
	ends.Lock()
	defer ends.Unlock()
	ends.until = time.Now().Add(patience)
}

// Temporary is a file or folder that a signal which ends this process removes.
type Temporary string

// NewTemporary notes what has just been made.
func NewTemporary(path string) Temporary {
	ends.Lock()
	defer ends.Unlock()
	if ends.temporary == nil {
		ends.temporary = map[Temporary]bool{}
	}
	ends.temporary[Temporary(path)] = true
	return Temporary(path)
}

// MkdirTemp makes a folder, as [os.MkdirTemp] does.
func MkdirTemp(dir, pattern string) (Temporary, error) {
	path, err := os.MkdirTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	return NewTemporary(path), nil
}

// Keep says that it is to stay.
func (t Temporary) Keep() {
	ends.Lock()
	defer ends.Unlock()
	delete(ends.temporary, t)
}

// Remove removes it, if that is possible; errors cannot be handled here.
func (t Temporary) Remove() {
	t.Keep()
	_ = os.RemoveAll(string(t))
}
