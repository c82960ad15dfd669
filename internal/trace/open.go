package trace

import (
	"errors"
	"fmt"
	"io"

	"qinst.dev/internal/format/message"
	"qinst.dev/internal/format/salvage"
	"qinst.dev/internal/names"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// tables is embedded under another name, because [Trace.Tables] is a method of [Source].
type tables = Tables

// Trace is an opened, indexed file. It is a [Source].
type Trace struct {
	tables

	File   File
	Blocks int // event blocks

	wall        Time   // from the first event or clock reading to the end of the traced time
	losses      Losses // of opening
	reader      *sddf.Reader
	file        io.Closer
	layout      layout
	clock       clock
	extent      extent
	snapshots   []snapshot         // states of goroutines at the beginning, if the file is a part of a trace
	blocks      map[uint32][]block // by thread
	index       *indexFile         // nil if there is none
	throttlings []throttling       // in the order of the file
	starts      map[GoID]uint64    // start functions of goroutines that were there when the file was written
}

// File describes the file of a trace.
type File struct {
	Path     string
	Size     int64 // bytes
	Producer string
	Salvaged *salvage.File // data from the program's ring, if the file was opened by its name
}

// extent is the part of a file's events that is read, in ticks.
type extent struct {
	begins uint64 // all events are there from here, if only the last ones are kept
	until  uint64 // later events are not read; 0: no limit
	ends   uint64 // time of the "end" record, 0 if there is none
	part   bool   // a part of a trace: entries whose cause comes after its end are not in it
}

// block is the position of one event buffer and the context in its head.
type block struct {
	sddf.Blob
	ticks uint64
	seq   uint64
	g     uint64
	tid   uint32
	p     int32
}

// Open opens and indexes a file.
func Open(path string) (*Trace, error) {
	t, err := openedBy(path, salvage.Open)
	if err == nil {
		t.index = openIndex(path+IndexSuffix, t)
	}
	return t, err
}

// OpenNow opens and indexes the file of a program that still runs, or that grows otherwise.
func OpenNow(path string) (*Trace, error) { return openedBy(path, salvage.OpenNow) }

func openedBy(path string, open func(string) (*salvage.File, error)) (*Trace, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	t, err := New(f, f.Size)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.File.Path, t.file, t.File.Salvaged = path, f, f
	return t, nil
}

// New indexes a file of the given size. If the file has several streams, it reads the first and
// counts the bytes of the others.
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
	t := &Trace{File: File{Size: size, Producer: reader.Producer}, reader: reader,
		blocks: map[uint32][]block{}, tables: Tables{Reasons: map[ReasonID]string{},
			Program:   Program{Dotted: names.Paths{}, Texts: map[TextID]string{}},
			System:    System{Sources: map[string]OSSource{}},
			Recording: Recording{Took: map[string]Took{}}}}
	ix := newIndexer(t)
	if n, ok := reader.Header().Attr(spec.AttrSegment).(uint64); ok && n > 0 {
		t.Kept = true // the segments before it made room for others
	}
	if err := ix.run(); err != nil {
		return nil, err
	}
	if len(ix.span.readings) > 0 {
		t.extent.begins = ix.span.readings[0]
	} else {
		t.Kept = false // it has no time
	}
	ix.finish()
	return t.flight().asked(ix.window), nil
}

// Close closes the file that Open opened.
func (t *Trace) Close() error {
	var err error
	if t.index != nil && t.index.file != nil {
		err = t.index.file.Close()
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// Losses returns the losses found when the file was opened; reading the events finds others.
func (t *Trace) Losses() Losses { return t.losses }

// Tables returns the tables of the file.
func (t *Trace) Tables() *Tables { return &t.tables }

// Wall is the time of the end of the traced time.
func (t *Trace) Wall() Time { return t.wall }

// Record decodes the record of a Record event, and the values in it that the program encoded
// itself. It is valid until the next call.
func (t *Trace) Record(e *Event) (*sddf.Packet, error) {
	b, err := t.reader.ReadBlob(nil, sddf.Blob{Off: int64(e.obj), Len: int64(e.aux)})
	if err != nil {
		return nil, err
	}
	p, err := t.reader.Inner(b)
	if err == nil {
		p.Values = message.Of(p)
	}
	return p, err
}
