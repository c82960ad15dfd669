package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"qinst.dev/internal/trace"
)

// A program that runs is shown in frames: each is the last part of its trace, as long as it takes a
// moment to read, as a view of its own. A browser that is slow gets the newest frame, and not those
// before it. When the program is paused on the page, which it does not notice, the view is one of
// the whole trace up to then.

const (
	frameEvery = 500 * time.Millisecond // between two frames, or as long as one takes to make
	frameTakes = 250 * time.Millisecond // to make one: its part of the trace is as long as that allows
	longest    = 10 * time.Second       // is the time of a frame
	firstFrame = 100 * time.Millisecond
	shortest   = 50 * time.Millisecond
)

// Live is a program that runs, or a file that grows, as a server shows it.
type Live struct {
	Open    func() (*trace.Trace, error) // opens what there is up to now
	New     func(*trace.Trace) *View
	Runs    func() bool                         // the program has not gone
	Control func(change string) (string, error) // changes what is recorded, and says how that went; nil: it cannot

	first  *Server    // whose token and cookie are those of all
	making sync.Mutex // held by one that makes a frame
	long   time.Duration
	mu     sync.Mutex
	now    *Server
	opened *trace.Trace
	state  LiveState
	news   chan struct{} // closed when the state changes
}

// LiveState is what is shown of a program that runs.
type LiveState struct {
	State string     `json:"state"` // running, paused or ended
	Frame int        `json:"frame"`
	From  trace.Time `json:"from_ns"`         // of the frame, in the whole trace
	Took  int64      `json:"took_ns"`         // to make the frame
	Set   bool       `json:"can_set"`         // what is recorded can be changed
	Error string     `json:"error,omitempty"` // why there is no newer frame
}

// States of a program that is shown.
const (
	running = "running"
	paused  = "paused"
	ended   = "ended"
)

// Start makes the first frame.
func (l *Live) Start() error {
	l.news, l.long, l.state = make(chan struct{}), firstFrame, LiveState{State: running, Set: l.Control != nil}
	return l.frame()
}

// Token is what the address of the page needs.
func (l *Live) Token() string { return l.first.Token }

// Follow makes frames until the program has ended, or ctx has.
func (l *Live) Follow(ctx context.Context) {
	rest := frameEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
		if l.is(running) {
			begun := time.Now()
			if err := l.frame(); err != nil { // what is shown stays
				l.tell(func(s *LiveState) { s.Error = err.Error() })
			}
			rest = max(frameEvery, time.Since(begun))
		}
		if l.is(ended) {
			return
		}
	}
}

func (l *Live) is(state string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.State == state
}

// frame shows what the program did last; of one that has ended, all.
func (l *Live) frame() error {
	l.making.Lock()
	defer l.making.Unlock()
	begun, runs := time.Now(), l.Runs()
	t, err := l.Open()
	if err != nil {
		return err
	}
	if t.End.Known || !runs {
		l.whole(t, ended)
		return nil
	}
	part := t.Last(trace.Time(l.long))
	v := l.New(part)
	if err := v.Wait(); err != nil {
		return errors.Join(err, t.Close())
	}
	took := time.Since(begun)
	l.long = max(shortest, l.long/4, min(longest, 4*l.long, l.long*frameTakes/took))
	l.show(t, v, true, func(s *LiveState) {
		s.Error = ""
		s.Frame, s.From, s.Took = s.Frame+1, trace.Time(part.Int(trace.AttrFrom)), int64(took)
	})
	return nil
}

// whole shows all of a trace.
func (l *Live) whole(t *trace.Trace, state string) {
	l.show(t, l.New(t), false, func(s *LiveState) { s.State, s.Frame, s.From, s.Error = state, s.Frame+1, 0, "" })
}

// show replaces what is shown, and tells the browsers. A frame of a program that was paused while
// it was made is not shown.
func (l *Live) show(t *trace.Trace, v *View, frame bool, change func(*LiveState)) {
	s := NewServer(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if frame && l.state.State != running {
		_ = t.Close()
		return
	}
	if l.first == nil {
		l.first = s
	}
	s.Token, s.Cookie = l.first.Token, l.first.Cookie
	change(&l.state)
	state := l.state
	s.live = &state
	old := l.opened
	l.now, l.opened = s, t
	l.announce()
	if old != nil { // answers that are being computed may still read it
		time.AfterFunc(10*time.Second, func() { _ = old.Close() })
	}
}

// tell changes the state, and tells the browsers.
func (l *Live) tell(change func(*LiveState)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.state)
	l.announce()
}

func (l *Live) announce() {
	close(l.news)
	l.news = make(chan struct{})
}

// ServeHTTP answers for the newest frame.
func (l *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	s := l.now
	l.mu.Unlock()
	switch {
	case r.URL.Path == "/api/v1/live" && r.Method == http.MethodPost:
		if s.guards(w, r) {
			l.command(w, r)
		}
	case r.URL.Path == "/api/v1/frames":
		if s.guards(w, r) {
			l.frames(w, r)
		}
	default:
		s.ServeHTTP(w, r)
	}
}

// command pauses, goes on, or changes what is recorded.
func (l *Live) command(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<12))
	said := ""
	var c struct{ Do, Set string }
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	switch {
	case err != nil:
	case c.Set != "" && l.Control != nil:
		said, err = l.Control(c.Set)
	case c.Do == "pause" && l.is(running):
		var t *trace.Trace
		if t, err = l.Open(); err == nil {
			l.whole(t, paused)
		}
	case c.Do == "go on" && l.is(paused):
		l.tell(func(s *LiveState) { s.State = running })
		err = l.frame()
	default:
		err = fmt.Errorf("found %s, expected to pause a program that runs, to go on with one that is paused, or to set what is recorded", body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"said": said})
}

// frames tells of each frame, as server-sent events. A browser that takes long hears of the newest.
func (l *Live) frames(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	var last *LiveState
	for {
		l.mu.Lock()
		state, news := l.state, l.news
		l.mu.Unlock()
		if last == nil || state != *last {
			last = &state
			text, err := json.Marshal(state)
			if err != nil {
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", text)
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}
