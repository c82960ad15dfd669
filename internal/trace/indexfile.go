package trace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// IndexSuffix follows a trace's path in that of its index.
const IndexSuffix = ".index"

// everyEvents is the number of events between two checkpoints. A window is read from the last
// checkpoint before it.
const everyEvents = 1 << 20

// An index is a file with two records for each checkpoint. The second is skipped when the index
// is opened.
var (
	checkpointRecord = sddf.Define[checkpointHead]("checkpoint")
	statesRecord     = sddf.Define[checkpointStates]("states")
)

type checkpointHead struct {
	Ticks   uint64   `sddf:"ticks,unit=ticks,doc=when"`
	Procs   uint64   `sddf:"procs,doc=GOMAXPROCS; 0: not known"`
	Threads []uint32 `sddf:"thread,unit=thread,doc=whose next event is not later, and waits for one that is"`
	Entries []int64  `sddf:"entry,unit=byte,doc=where in the trace those events are"`
	Points  []uint32 `sddf:"point,unit=probe,doc=that have events since the checkpoint before, in order"`

	states sddf.Blob // the packet that follows
}

type checkpointStates struct {
	File []byte `sddf:"file,doc=a file of its own of state records"`
}

// Attributes that match an index to its trace.
const (
	attrIndexSize   = "trace_bytes"
	attrIndexStream = "trace_stream"
)

// WriteIndex writes the trace's index: the state of all goroutines and threads for about every
// million events, less often if the states are large. [Open] uses the index at the trace's path
// with [IndexSuffix].
func (t *Trace) WriteIndex(w io.Writer) error { return t.writeIndex(w, everyEvents) }

func (t *Trace) writeIndex(w io.Writer, every int) error {
	out := sddf.NewWriter(w, "qinst index", nil)
	if err := errors.Join(out.Attribute(attrIndexSize, uint64(t.File.Size)),
		out.Attribute(attrIndexStream, t.stream())); err != nil {
		return err
	}
	follow := follower{points: map[uint32]bool{}}
	events, next := 0, every
	m := t.merger(func(batch []Event) error {
		events += len(batch)
		return follow.follow(batch)
	})
	m.pause = func() error {
		if events+len(m.batch) < next {
			return nil
		}
		if err := m.flush(); err != nil {
			return err
		}
		c := follow.checkpoint(m, m.now)
		next = events + max(every, 8*c.weight())
		return c.write(out)
	}
	return errors.Join(m.run(), m.flush(), out.Close())
}

// stream is the identity of the trace's stream, 0 in a file from before there was one.
func (t *Trace) stream() uint64 {
	id, _ := t.reader.Header().Attr(spec.AttrStream).(uint64)
	return id
}

// weight is about as many events as take the space of the states.
func (c *checkpoint) weight() (n int) {
	for i := range c.states {
		n += 4 + len(c.states[i].probes)/8
	}
	return n
}

func (c *checkpoint) write(w *sddf.Writer) error {
	head := checkpointHead{Ticks: c.ticks, Procs: c.procs, Points: c.points}
	for th := range c.held {
		head.Threads = append(head.Threads, th)
	}
	slices.Sort(head.Threads)
	for _, th := range head.Threads {
		head.Entries = append(head.Entries, c.held[th])
	}
	var states bytes.Buffer
	inner := sddf.NewWriter(&states, "qinst index", []spec.Record{spec.Records[spec.TagState-1]})
	for i := range c.states {
		if err := inner.Data(spec.TagState, c.states[i].row()...); err != nil {
			return err
		}
	}
	return errors.Join(inner.Close(), checkpointRecord.Write(w, head),
		statesRecord.Write(w, checkpointStates{states.Bytes()}))
}

// indexFile is an opened index.
type indexFile struct {
	file  *os.File
	r     *sddf.Reader
	list  []checkpointHead
	notes *notes // instead of a file
}

// Indexed reports whether an index of the trace was found next to it.
func (t *Trace) Indexed() bool { return t.index != nil }

// openIndex opens the index of a trace, nil if there is none of this very trace.
func openIndex(path string, t *Trace) *indexFile {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	ix := &indexFile{file: f}
	if st, err := f.Stat(); err != nil || ix.read(st.Size(), t) != nil {
		_ = f.Close()
		return nil
	}
	return ix
}

var errIndex = errors.New("another trace's index, or none")

func (ix *indexFile) read(size int64, t *Trace) (err error) {
	if ix.r, err = sddf.NewReader(ix.file, size); err != nil {
		return err
	}
	ix.r.Only(map[string][]string{"checkpoint": nil})
	attrs := map[string]any{}
	for p, err := range ix.r.Packets() {
		switch {
		case err != nil:
			return err
		case p.Kind == spec.Attribute:
			attrs[p.Name] = p.Value
		case p.Kind == spec.Data && p.Name == "checkpoint":
			var head checkpointHead
			if err := checkpointRecord.Decode(p, &head); err != nil || len(head.Threads) != len(head.Entries) {
				return errIndex
			}
			ix.list = append(ix.list, head)
		case p.Kind == spec.Data && p.Name == "states" && len(ix.list) > 0:
			ix.list[len(ix.list)-1].states = sddf.Blob{Off: p.Off, Len: p.Body()}
		}
	}
	if attrs[attrIndexSize] != any(uint64(t.File.Size)) || attrs[attrIndexStream] != any(t.stream()) ||
		!slices.IsSortedFunc(ix.list, func(a, b checkpointHead) int { return compareTicks(a, b.Ticks) }) {
		return errIndex
	}
	return nil
}

// checkpoint reads the i-th checkpoint.
func (ix *indexFile) checkpoint(i int) (*checkpoint, error) {
	head := &ix.list[i]
	b, err := ix.r.ReadBlob(nil, head.states)
	if err != nil {
		return nil, err
	}
	ix.r.Only(nil)
	p, err := ix.r.Inner(b)
	if err != nil {
		return nil, err
	}
	var states checkpointStates
	if err := statesRecord.Decode(p, &states); err != nil {
		return nil, err
	}
	c := &checkpoint{ticks: head.Ticks, procs: head.Procs, held: map[uint32]int64{}, points: head.Points}
	for i, th := range head.Threads {
		c.held[th] = head.Entries[i]
	}
	r, err := sddf.NewReader(bytes.NewReader(states.File), int64(len(states.File)))
	if err != nil {
		return nil, err
	}
	for p, err := range r.Packets() {
		if err != nil {
			return nil, err
		}
		if p.Kind == spec.Data && p.Name == "state" {
			row := &row{p, false}
			if c.states = append(c.states, snapshotOf(row)); row.bad {
				return nil, errIndex
			}
		}
	}
	return c, nil
}
