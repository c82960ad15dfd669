// Package chrome writes a trace in the Trace Event format of Chrome: JSON, as a stream, for
// chrome://tracing, ui.perfetto.dev and other viewers.
//
//	lanes                       what is written
//	goroutines, processors,     a process for each of these groups, with its name
//	locks, regions, collector
//	a lane                      a thread of it; that of a goroutine has its number
//	waiting for a lock          a counter of the locks' process
//	a slice                     a pair of events B and E with its kind as category
//	a wake-up                   a flow, from s to f
//
// Lost are counts of procedures and loops without events, samples, records of the program's own,
// and labels. Times are us since the trace began, with three decimals.
package chrome

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// Write writes a trace. It returns what has no lane, and the losses of the trace.
func Write(to io.Writer, source trace.Source) (lanes.Left, trace.Losses, error) {
	w := &writer{to: to, names: map[string][]byte{}, at: map[lanes.ID]*thread{}}
	w.program, _ = source.Tables().Attr("program").(string)
	w.b = append(w.b, `{"displayTimeUnit":"ns","traceEvents":[`...)
	left, losses, err := lanes.Show(source, w)
	w.b = append(w.b, "\n]}\n"...)
	if w.flush(); err == nil {
		err = w.err
	}
	return left, losses, err
}

// thread is where a lane is.
type thread struct {
	id      string // its fields pid and tid
	counter string // name of the counter that it is, quoted
	open    int    // slices
}

func newThread(pid, tid uint64) *thread {
	return &thread{id: fmt.Sprintf(`","pid":%d,"tid":%d`, pid, tid)}
}

// mostBuffered is how many bytes are kept before they are written.
const mostBuffered = 1 << 16

// writer is a [lanes.Form]. The first error stays.
type writer struct {
	to      io.Writer
	b       []byte // events that are not written yet
	err     error
	program string
	names   map[string][]byte     // quoted
	at      map[lanes.ID]*thread  // but for lanes in which nothing happens any more
	group   [lanes.NumGroups]bool // that have a process
	some    bool                  // an event has been written
	last    trace.Time
	ts      []byte // the field with it
}

// flush writes the events.
func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.b)
	}
	w.b = w.b[:0]
}

// Lane writes the name of a lane.
func (w *writer) Lane(l lanes.Lane) {
	group := l.Group
	if group == lanes.Queues {
		group = lanes.Locks
	}
	pid := uint64(group) + 1
	if !w.group[group] {
		w.group[group] = true
		w.meta("process_name", pid, 0, strings.TrimSpace(w.program+" "+group.String()))
	}
	tid := uint64(l.ID) & (1<<53 - 1) // as JavaScript has it
	x := newThread(pid, tid)
	if l.Group == lanes.Queues {
		x.counter = string(w.quoted(l.Name))
	} else {
		w.meta("thread_name", pid, tid, l.Name)
	}
	if was := w.at[l.ID]; was != nil { // it has another name now
		x.open = was.open
	}
	w.at[l.ID] = x
}

func (w *writer) meta(what string, pid, tid uint64, name string) {
	b := w.head('M', newThread(pid, tid))
	b = append(append(append(b, `,"name":"`...), what...), `","args":{"name":`...)
	w.tail(append(append(b, w.quoted(name)...), '}'))
}

// Gone forgets a lane.
func (w *writer) Gone(lane lanes.ID) { delete(w.at, lane) }

// Begin writes the begin of a slice.
func (w *writer) Begin(lane lanes.ID, at trace.Time, kind lanes.Kind, name string, flow uint64) {
	x := w.at[lane]
	x.open++
	b := w.time(w.head('B', x), at)
	b = append(append(b, `,"cat":"`...), kind.String()...)
	b = append(append(b, `","name":`...), w.quoted(name)...)
	w.tail(b)
	if flow != 0 {
		b = w.time(w.head('f', x), at)
		w.tail(strconv.AppendUint(append(b, `,"bp":"e","cat":"wakes","name":"wakes","id":`...), flow, 10))
	}
}

// End writes its end.
func (w *writer) End(lane lanes.ID, at trace.Time) {
	x := w.at[lane]
	x.open--
	w.tail(w.time(w.head('E', x), at))
}

// Wakes writes the begin of a flow. It must be in a slice: in one of no length, if there is no
// other.
func (w *writer) Wakes(lane lanes.ID, at trace.Time, name string, flow uint64) {
	x := w.at[lane]
	if x.open == 0 {
		w.Begin(lane, at, lanes.Ready, name, 0)
		defer w.End(lane, at)
	}
	b := w.time(w.head('s', x), at)
	w.tail(strconv.AppendUint(append(b, `,"cat":"wakes","name":"wakes","id":`...), flow, 10))
}

// Value writes the value of a counter.
func (w *writer) Value(lane lanes.ID, at trace.Time, n int64) {
	x := w.at[lane]
	b := w.time(w.head('C', x), at)
	b = append(append(b, `,"name":`...), x.counter...)
	w.tail(append(strconv.AppendInt(append(b, `,"args":{"waiting":`...), n, 10), '}'))
}

// head appends the beginning of an event.
func (w *writer) head(phase byte, x *thread) []byte {
	b := w.b
	if w.some {
		b = append(b, ',')
	}
	w.some = true
	b = append(append(b, "\n{\"ph\":\""...), phase)
	return append(b, x.id...)
}

// time appends a time in us. Several events have the same one.
func (w *writer) time(b []byte, at trace.Time) []byte {
	if at != w.last || len(w.ts) == 0 {
		ns := int64(at) % 1000
		w.last, w.ts = at, strconv.AppendInt(append(w.ts[:0], `,"ts":`...), int64(at)/1000, 10)
		w.ts = append(w.ts, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
	}
	return append(b, w.ts...)
}

// tail appends its end.
func (w *writer) tail(b []byte) {
	if w.b = append(b, '}'); len(w.b) >= mostBuffered {
		w.flush()
	}
}

// quoted is a name as JSON has it.
func (w *writer) quoted(name string) []byte {
	q, ok := w.names[name]
	if !ok {
		q, _ = json.Marshal(name) // of a string there is no error
		w.names[name] = q
	}
	return q
}
