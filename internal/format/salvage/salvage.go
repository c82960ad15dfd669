// Package salvage opens the file of a program that was killed, together with the data that the
// program recorded and did not write. That data is in its ring: the memory that its threads
// recorded into is a file, which outlives the program. Every reading command opens files through
// this package.
package salvage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// File is an opened file: a reader of it, with the data of its ring appended.
type File struct {
	io.ReaderAt
	Size int64

	Part      string // path of the other part, "" if there is none
	Ring      string // its path, "" if the file needs none or has none
	Recovered int    // blocks of events from the ring
	Bytes     int64  // of events in them
	Points    int    // with counts from the ring
	Damaged   int64  // bytes at the end of the file that were half of a packet
	Failed    string // why the program could not write all of the file, "" if it could
	Runs      bool   // the program does, and what it has not written yet is missing

	live    bool      // it is read although its program still runs
	why     string    // nothing was recovered
	written int64     // its size on the disk when it was opened
	emptied time.Time // when it was, if it is empty
	closers []io.Closer
}

// Open opens a file, and the ring that it names if the ring exists and its program is gone.
func Open(path string) (*File, error) { return OpenWith(path, "") }

// OpenWith is Open with a ring that the file need not name.
func OpenWith(path, ring string) (*File, error) { return open(path, ring, false) }

func open(path, ring string, live bool) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = fmt.Errorf("%s: is a directory, expected an SDDF file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	file := &File{ReaderAt: f, Size: st.Size(), live: live, written: st.Size(), emptied: st.ModTime(),
		closers: []io.Closer{f}}
	other, second := strings.CutSuffix(path, spec.PartSuffix)
	if !second {
		other += spec.PartSuffix
	}
	if err := cmp.Or(file.addPart(other), file.join(ring)); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// String returns a summary of the recovered data, or the reason why nothing was recovered.
func (f *File) String() string {
	if f.Ring == "" {
		return "nothing to recover: " + f.why
	}
	s := fmt.Sprintf("recovered %d blocks with %d bytes of events, and the counts of %d points, from %s", f.Recovered,
		f.Bytes, f.Points, f.Ring)
	if f.Failed != "" {
		s = f.Failed + "; " + s
	}
	if f.Damaged > 0 {
		s += fmt.Sprintf(" (in place of the last %d bytes of the file)", f.Damaged)
	}
	return s
}

// Close closes the file and its ring.
func (f *File) Close() error {
	var err error
	for _, c := range f.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// addPart joins the other part of a file that is written in two, in the order of their segments. Of
// a program that was killed, or is looked at, at the moment when it begins a part anew, that part
// is empty, and the other one is all there is.
func (f *File) addPart(path string) error {
	r, errHere := sddf.NewReader(f.ReaderAt, f.Size)
	if errHere != nil && f.Size > 0 {
		return errHere
	}
	other, size, err := openRegular(path)
	if err != nil {
		return errHere // there is none that could be of this trace
	}
	f.closers = append(f.closers, other)
	o, err := sddf.NewReader(other, size)
	switch {
	case err != nil:
		return errHere // it has just been begun
	case errHere != nil:
		if f.emptied.After(modified(other)) {
			return errHere // an older program's
		}
		f.ReaderAt, f.Size, f.Part = other, size, path
		return nil
	case stream(r) == 0 || stream(o) != stream(r):
		return nil // another program's
	}
	both := &extents{}
	if segment(o) > segment(r) {
		both.add(f.ReaderAt, 0, f.Size)
		both.add(other, 0, size)
	} else {
		both.add(other, 0, size)
		both.add(f.ReaderAt, 0, f.Size)
	}
	f.ReaderAt, f.Size, f.Part = both, both.size, path
	return nil
}

// modified is when a file was written last. A program that empties one part writes to the other one
// after that.
func modified(f *os.File) time.Time {
	st, err := f.Stat()
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// join appends the data of the ring, if there is one and no process fills it any more.
func (f *File) join(path string) error {
	r, err := sddf.NewReader(f.ReaderAt, f.Size)
	if err != nil {
		return err
	}
	if codec := r.Header().Codec(); codec != "" {
		if f.ReaderAt, f.Size, err = sddf.Unpack(codec, f.ReaderAt, f.Size); err != nil {
			return err
		}
		f.why = "the file is compressed: programs do not write such"
		return nil
	}
	ring := f.ring(r, path)
	if ring == nil {
		return nil
	}
	path = ring.path
	f.closers = append(f.closers, ring.file)
	switch {
	case ring.head[spec.RingWordStream] != stream(r):
		f.why = path + " is another program's"
		return nil
	case !ring.alive():
		f.live = false
	case !f.live:
		f.why, f.Runs = "the program still runs", true
		return nil
	default:
		if err := ring.copy(); err != nil {
			return err
		}
	}
	chunks, err := ring.chunks()
	if err != nil {
		return err
	}
	end, complete, err := f.scan(chunks)
	if err != nil || complete {
		f.why = "the file is complete"
		return err
	}
	if f.Damaged = f.Size - end; !f.live {
		f.Ring = path
	}
	tail := &extents{}
	tail.add(f.ReaderAt, 0, end)
	if err := f.recover(tail, ring, chunks); err != nil {
		return err
	}
	f.ReaderAt, f.Size = tail, tail.size
	return nil
}

// ring opens the ring at a path, or the one that the file names; nil: there is none, and why says
// the reason.
func (f *File) ring(r *sddf.Reader, path string) *ring {
	if path == "" {
		if path = ringOf(r); path == "" {
			f.why = "the file names no ring"
			return nil
		}
		if name := filepath.Base(path); !strings.HasPrefix(name, ringPrefix) {
			f.why = fmt.Sprintf("it names the ring %s, expected a name that begins with %s", path, ringPrefix)
			return nil
		}
	}
	opened, err := openRing(path)
	if err != nil {
		f.why = err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			f.why = "its ring is gone, as it is when the program ended by itself"
		}
		return nil
	}
	return opened
}

// ringOf finds the attribute that names the ring, ahead of the data.
func ringOf(r *sddf.Reader) string {
	r.Only(map[string][]string{})
	for p, err := range r.Packets() {
		switch {
		case err != nil || p.Kind == spec.Data:
			return ""
		case p.Kind == spec.Attribute && p.Name == "ring":
			path, _ := p.Value.(string)
			return path
		}
	}
	return ""
}

func stream(r *sddf.Reader) uint64 { return number(r, spec.AttrStream) }

func segment(r *sddf.Reader) uint64 { return number(r, spec.AttrSegment) }

// number returns an attribute of the header.
func number(r *sddf.Reader, key string) uint64 {
	n, _ := r.Header().Attr(key).(uint64)
	return n
}

// scan reads the file. It removes from chunks the buffers that the file has, and returns where
// its readable part ends.
func (f *File) scan(chunks map[blockKey]chunk) (end int64, complete bool, err error) {
	r, err := sddf.NewReader(f.ReaderAt, f.Size)
	if err != nil {
		return 0, false, err
	}
	r.Only(map[string][]string{"events": {"thread", "seq", "events"}, "end": {"ticks"}})
	for p, err := range r.Packets() {
		var damage *sddf.DamageError
		switch {
		case errors.As(err, &damage):
			if damage.End == f.Size {
				return damage.Off, false, nil
			}
		case err != nil:
			return 0, false, err
		case p.Kind == spec.Data && p.Name == "end":
			complete = true
		case p.Kind == spec.Data && p.Name == "events":
			f.found(chunks, p)
		}
	}
	return f.Size, complete, nil
}

// found removes the buffer that a packet of the file was written from from chunks, unless it has
// grown since.
func (f *File) found(chunks map[blockKey]chunk, p *sddf.Packet) {
	var key blockKey
	var n int64
	for i, field := range p.Record.Fields {
		switch v := p.Values[i].(type) {
		case uint64:
			if field.Name == "thread" {
				key.thread = uint32(v)
			} else {
				key.seq = v
			}
		case sddf.Blob:
			n = v.Len
		}
	}
	if c, ok := chunks[key]; ok && int64(c.bytes) <= n {
		delete(chunks, key)
	}
}

// recover appends records for the data of the ring: event buffers, the counts, clocks, and an
// end record.
func (f *File) recover(to *extents, r *ring, chunks map[blockKey]chunk) error {
	if at, n := r.head[spec.RingWordLogAt], r.head[spec.RingWordLog]; at+n <= r.size {
		to.add(r.data, int64(at), int64(n)) // tables that are already in the file occur twice
	}
	for _, key := range slices.SortedFunc(maps.Keys(chunks), blockKey.compare) {
		c := chunks[key]
		head, err := c.packetHead()
		if err != nil {
			return err
		}
		events := make([]byte, c.bytes)
		if _, err := r.data.ReadAt(events, c.at); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		to.bytes(head)
		to.add(r.data, c.at, int64(c.bytes))
		to.bytes(sddf.AppendSumsOf(nil, head, events))
		f.Recovered++
		f.Bytes += int64(c.bytes)
	}
	rows, err := f.totals(to, r)
	if err != nil {
		return err
	}
	var b []byte
	for _, rec := range rows {
		if b, err = sddf.AppendRecord(b, &spec.Records[rec.tag-1], rec.values...); err != nil {
			return err
		}
	}
	to.bytes(b)
	return nil
}

// row is a record to be written.
type row struct {
	tag    uint32
	values []any
}

// totals are the records behind the events: clocks, totals, and the end. tables is the file with
// all that the ring adds in front of them.
func (f *File) totals(tables *extents, r *ring) (rows []row, err error) {
	totals, err := r.totals()
	if err != nil {
		return nil, err
	}
	clocks, last := r.clocks()
	for _, c := range clocks {
		rows = append(rows, row{spec.TagClock, c})
	}
	reason := Killed
	if f.live {
		reason = Running
	}
	if errno := r.head[spec.RingWordFailed]; errno != 0 {
		reason, f.Failed = Unknown, failure(errno)
		rows = append(rows, row{spec.TagLimit, []any{r.head[spec.RingWordFailedAt], r.head[spec.RingWordWritten],
			f.Failed}})
	}
	counts, reduced, points := packCounts(totals)
	f.Points = points
	if reduced != nil {
		rows = append(rows, row{spec.TagReduced, []any{last, reduced}})
	}
	n, bursts, err := packBursts(tables, totals)
	if err != nil {
		return nil, err
	}
	if bursts != nil {
		rows = append(rows, row{spec.TagBursts, []any{last, n, bursts}})
	}
	lost := r.lost()
	at, status := last, -1
	if why, how, when := r.end(); why != "" {
		reason, status, at = why, how, cmp.Or(when, last)
	}
	return append(rows,
		row{spec.TagCounts, []any{last, counts}},
		row{spec.TagEnd, []any{at, reason, status, lost.events, r.head[spec.RingWordEarly], lost.deep, 0}}), nil
}

// The reason in the "end" record of a file that its ring completes.
const (
	Killed  = "killed"
	Running = "it still runs"
	Unknown = "not known" // the file could not be written to its end
)

// failure returns the reason why a file could not be written.
func failure(errno uint64) string {
	text := map[uint64]string{5: "input/output error", 27: "file too large", 28: "no space left on device",
		122: "disk quota exceeded"}[errno]
	if text == "" {
		text = fmt.Sprint("error ", errno)
	}
	return "cannot write: " + text
}

// extents are pieces of files, concatenated.
type extents struct {
	list []extent
	size int64
}

type extent struct {
	off, len int64 // of the whole
	src      io.ReaderAt
	at       int64 // in src
}

func (x *extents) add(src io.ReaderAt, at, n int64) {
	x.list = append(x.list, extent{x.size, n, src, at})
	x.size += n
}

func (x *extents) bytes(b []byte) { x.add(bytes.NewReader(b), 0, int64(len(b))) }

// ReadAt reads as one file would.
func (x *extents) ReadAt(p []byte, off int64) (n int, err error) {
	i, found := slices.BinarySearchFunc(x.list, off, func(e extent, off int64) int { return cmp.Compare(e.off, off) })
	if !found {
		i--
	}
	for ; i < len(x.list) && n < len(p); i++ {
		e := x.list[i]
		skip := off + int64(n) - e.off
		want := min(int64(len(p)-n), e.len-skip)
		if want <= 0 {
			continue
		}
		m, err := e.src.ReadAt(p[n:n+int(want)], e.at+skip)
		n += m
		if int64(m) < want {
			return n, cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}
