package trace

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"qinst.dev/sddf"
	"qinst.dev/sddf/salvage"
	"qinst.dev/sddf/spec"
)

// Trace is an opened, indexed file.
type Trace struct {
	Path     string
	Size     int64 // bytes
	Producer string

	Attrs     []Attr                      // in the file's order
	Points    []Point                     // by dense index
	Functions []Function                  // by pc
	Callees   map[int32]map[string]uint64 // calls by point and function, where the source does not tell the function
	Texts     map[uint64]string
	Stacks    []Stack  // by number; 0 is the stack that is not known
	Paths     []Path   // by number; 0 is where a goroutine started
	Threads   []Thread // by dense number, then thread id
	Reasons   map[uint64]string
	Usage     Usage
	Memory    Memory
	Metrics   []Metric // in time order
	Flush     Flush
	Throttled int64 // ns lost to the control group's quota
	Limits    []Limit
	Levels    []LevelChange // in time order
	End       End
	// Extensions are those that reduced the trace, in the order of the file.
	Extensions []Extension
	// Own are the records of the program's own kinds that lie between those of the trace:
	// what extensions made, by name.
	Own       []OwnRecords
	HasCounts bool
	Wall      int64 // ns: from the first event or clock reading to the end of what was traced
	Ran       int64 // ns: to the end record, or what was last; more than Wall after a limit
	Began     int64 // ns since 1970, 0 if unknown
	Blocks    int   // event blocks

	Salvaged *salvage.File // what came from the program's ring, if the file was opened by its name

	losses    Losses // of opening
	reader    *sddf.Reader
	file      io.Closer
	words     [256]uint8  // words of an event by kind, 0 if unknown
	tails     [256]uint32 // of kinds that carry packets: word<<16 | width<<8 | bit of the packet's length
	clock     clock
	snapshots []snapshot         // what goroutines did when the file's part of a trace began
	until     uint64             // ticks: later events are not read; 0: all are
	blocks    map[uint32][]block // by thread
	endTicks  uint64             // of the "end" record, 0 if there is none
	part      bool               // a window: what waits for a cause at its end is not in it
	index     *indexFile         // nil if there is none
	starts    map[GoID]uint64    // start functions of goroutines that were there when the file was written
}

// block is where one event block lies and the context that it states.
type block struct {
	off   int64
	ticks uint64
	seq   uint64
	g     uint64
	len   uint32
	tid   uint32
	p     int32
}

// Open opens and indexes a file.
func Open(path string) (*Trace, error) {
	f, err := salvage.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := New(f, f.Size)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.Path, t.file, t.Salvaged = path, f, f
	t.index = openIndex(path+IndexSuffix, t)
	return t, nil
}

// New indexes a file of the given size. Of a file with several streams it reads the
// first, and counts the bytes of the others.
func New(r io.ReaderAt, size int64) (*Trace, error) {
	t, err := index(r, size)
	var foreign foreignStream
	if !errors.As(err, &foreign) {
		return t, err
	}
	if t, err = index(r, int64(foreign)); err == nil {
		t.losses.OtherStreams = size - int64(foreign)
	}
	return t, err
}

// foreignStream is the offset at which another stream begins.
type foreignStream int64

func (foreignStream) Error() string { return "another stream" }

func index(r io.ReaderAt, size int64) (*Trace, error) {
	reader, err := sddf.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	t := &Trace{Size: size, Producer: reader.Producer, reader: reader,
		Reasons: map[uint64]string{}, Texts: map[uint64]string{}, blocks: map[uint32][]block{}}
	ix := indexer{t: t, fns: map[uint64]Function{}, frames: map[uint64][]Frame{}, threads: map[[2]uint32]Thread{}, before: map[[2]uint32]Thread{}, own: map[string]uint64{}}
	if err := ix.run(); err != nil {
		return nil, err
	}
	ix.finish()
	return t.flight(), nil
}

// Close closes the file that Open opened.
func (t *Trace) Close() error {
	var err error
	if t.index != nil {
		err = t.index.file.Close()
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// Losses are those that opening the file found; reading the events finds others.
func (t *Trace) Losses() Losses { return t.losses }

// Attr returns a stream attribute's value, nil if the file has none of that key.
func (t *Trace) Attr(key string) any {
	for _, a := range t.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// Int returns a stream attribute that is a whole number, 0 if there is none.
func (t *Trace) Int(key string) int64 {
	switch v := t.Attr(key).(type) {
	case int64:
		return v
	case uint64:
		return int64(v)
	}
	return 0
}

// Record decodes the record of a Record event. It is valid until the next call.
func (t *Trace) Record(e *Event) (*sddf.Packet, error) {
	b, err := t.reader.ReadBlob(nil, sddf.Blob{Off: int64(e.Obj), Len: int64(e.Aux)})
	if err != nil {
		return nil, err
	}
	return t.reader.Inner(b)
}

// Function returns the goroutine start function of a pc, nil if it is unknown.
func (t *Trace) Function(pc uint64) *Function {
	i := sort.Search(len(t.Functions), func(i int) bool { return t.Functions[i].PC >= pc })
	if i < len(t.Functions) && t.Functions[i].PC == pc {
		return &t.Functions[i]
	}
	return nil
}

// Reason names the code of a wait.
func (t *Trace) Reason(code uint64) string {
	if s, ok := t.Reasons[code]; ok {
		return s
	}
	if code == SwitchReason {
		return "coroutine switch"
	}
	return fmt.Sprintf("reason %d", code)
}

// checkLayout compares the file's event layout with what this package decodes,
// and notes the length of each kind, known here or not.
func (t *Trace) checkLayout(rec *spec.Record) error {
	if rec.Layout == nil {
		return errors.New(`record "events" has no layout`)
	}
	for _, v := range rec.Layout.Variants {
		if v.Kind < 0 {
			return errors.New(`record "events": entries without kinds`)
		}
		t.words[v.Kind] = uint8(v.Words)
		for _, f := range v.Fields {
			if v.Tail != "" && f.Name == v.Tail {
				t.tails[v.Kind] = uint32(f.Word<<16 | f.Width<<8 | f.Bit)
			}
		}
		want := spec.Events.Variant(v.Kind)
		if want == nil {
			continue
		}
		if v.Words != want.Words || len(v.Fields) < len(want.Fields) {
			return fmt.Errorf("event %q of %d words and %d fields, expected %d and %d", v.Name, v.Words, len(v.Fields), want.Words, len(want.Fields))
		}
		for i, f := range want.Fields {
			g := v.Fields[i]
			if g.Name != f.Name || g.Word != f.Word || g.Bit != f.Bit || g.Width != f.Width {
				return fmt.Errorf("event %q: field %q at bits %d+%d of word %d, expected %q at %d+%d of word %d",
					v.Name, g.Name, g.Bit, g.Width, g.Word, f.Name, f.Bit, f.Width, f.Word)
			}
		}
	}
	return nil
}
