package extensions

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// A File is reduced by extensions as it would have been when it was written.
type File struct {
	p       *pipeline
	r       io.ReaderAt
	size    int64
	data    *sddf.Reader // of blobs, and of the header
	w       *sddf.Writer
	blocks  map[uint32][]place // by thread
	records records
	tables  tables
	names   map[uint64]string // of functions
	clocks  clocks
	end     []any // the "end" record, nil if there is none
	said    []string
	damage  int // parts that are damaged, and left out

	dropped []uint64 // events by point
	err     error
}

// place is the position of a buffer's events.
type place struct {
	block
	at sddf.Blob
}

// Open reads the tables of a file. The file must be one that a program wrote, of one stream; r is
// not closed.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size, blocks: map[uint32][]place{}, records: newRecords(), names: map[uint64]string{}}
	f.p = newPipeline(f)
	f.p.file = true
	var err error
	if f.data, err = sddf.NewReader(r, size); err != nil {
		return nil, err
	}
	err = f.packets(func(p *sddf.Packet) error {
		switch {
		case p.Kind == spec.Header && !p.Continues:
			return errors.New("found several streams, expected one: qinst convert -stream=2 takes the second out")
		case p.Kind == spec.Descriptor:
			f.records.found(p.Record)
		case p.Kind == spec.Data && p.Record != nil:
			f.take(p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.records.byTag[spec.TagEvents] == nil {
		return nil, errors.New("found no events, expected a file that a program wrote")
	}
	for _, list := range f.blocks {
		s, _ := f.p.stream(list[0].num)
		s.load = f.load(list)
	}
	return f, nil
}

// packets calls f for each packet. Damaged parts are skipped.
func (f *File) packets(each func(*sddf.Packet) error) error {
	r, err := sddf.NewReader(f.r, f.size)
	if err != nil {
		return err
	}
	for p, err := range r.Packets() {
		var damage *sddf.DamageError
		switch {
		case errors.As(err, &damage):
			f.damage++
			continue
		case err != nil:
			return err
		}
		if err := each(p); errors.As(err, &damage) {
			f.damage++
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (f *File) take(p *sddf.Packet) {
	switch p.Record.Tag {
	case spec.TagEvents:
		num, err1 := sddf.Field[uint64](p, "thread")
		tid, err2 := sddf.Field[uint64](p, "tid")
		seq, err3 := sddf.Field[uint64](p, "seq")
		ticks, err4 := sddf.Field[uint64](p, "ticks")
		g, err5 := sddf.Field[uint64](p, "g")
		proc, err6 := sddf.Field[int64](p, "p")
		at, err7 := sddf.Field[sddf.Blob](p, "events")
		if cmp.Or(err1, err2, err3, err4, err5, err6, err7) == nil && at.Len < 1<<30 {
			b := block{num: uint32(num), tid: uint32(tid), seq: seq, ticks: ticks, g: g, proc: int32(proc), full: true}
			f.blocks[b.num] = append(f.blocks[b.num], place{b, at})
		}
	case spec.TagProbes:
		base, err := sddf.Field[uint64](p, "base")
		if err == nil && base < spec.MaxProbes {
			f.tables.add(uint32(base), p)
		}
	case spec.TagFunction:
		pc, err := sddf.Field[uint64](p, "pc")
		if name, err2 := sddf.Field[string](p, "name"); err == nil && err2 == nil {
			f.names[pc] = name
		}
	case spec.TagClock:
		ticks, err := sddf.Field[uint64](p, "ticks")
		mono, err2 := sddf.Field[int64](p, "monotonic")
		if err == nil && err2 == nil {
			f.clocks.read(reading{ticks, uint64(mono)})
		}
	case spec.TagEnd:
		f.end = slices.Clone(p.Values)
	}
}

// load reads a thread's buffers one by one. If several have the same number, because one was
// written before it was full, the longest is used.
func (f *File) load(list []place) func() *block {
	slices.SortStableFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq),
			cmp.Compare(b.at.Len, a.at.Len))
	})
	list = slices.CompactFunc(list, func(a, b place) bool { return a.seq == b.seq })
	var buf []byte
	var words []uint64
	var next func() *block
	next = func() *block {
		if len(list) == 0 {
			return nil
		}
		b := list[0].block
		at := list[0].at
		list = list[1:]
		var err error
		var damage *sddf.DamageError
		if buf, err = f.data.ReadBlob(buf[:0], at); errors.As(err, &damage) {
			f.damage++
			return next()
		} else if err != nil {
			f.fail(err)
			return nil
		}
		words = slices.Grow(words[:0], len(buf)/8)[:len(buf)/8]
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(buf[8*i:])
		}
		b.words = words
		return &b
	}
	return next
}

// Use adds an extension after the existing ones; see [Use].
func (f *File) Use(name string, kinds Kinds, e Extension) { f.p.use(name, kinds, e) }

// Reduce writes the file without the events that the extensions drop, and with the records that
// they make. It must be called only once.
func (f *File) Reduce(w io.Writer) error {
	f.w, f.damage = sddf.NewWriter(w, f.data.Producer, nil), 0 // it was counted once
	for _, a := range f.data.Header().Attrs {
		if a.Key == spec.AttrStream {
			if err := f.w.Attribute(a.Key, a.Value); err != nil {
				return err
			}
		}
	}
	var dropped sddf.Blob
	if err := f.packets(func(p *sddf.Packet) error { return f.copy(p, &dropped) }); err != nil {
		return err
	}
	for i := range spec.Records {
		if rec := &spec.Records[i]; f.records.defined[rec.Tag] == nil { // of a file from before there was one
			if err := f.w.Define(*rec); err != nil {
				return err
			}
		}
	}
	if err := f.before(dropped); err != nil {
		return err
	}
	f.p.run(1<<64 - 1)
	f.p.flush(true)
	if f.damage > 0 {
		f.say(fmt.Sprintf("damaged parts of the file are not in the result: %d", f.damage))
	}
	return cmp.Or(f.err, f.after(), f.w.Close())
}

// copy writes a packet unchanged, unless the reduction replaces it.
func (f *File) copy(p *sddf.Packet, dropped *sddf.Blob) error {
	switch p.Kind {
	case spec.Attribute:
		return f.w.Attribute(p.Name, p.Value)
	case spec.Command:
		return f.w.Command(p.Name, p.Attrs...)
	case spec.Descriptor:
		if f.records.defined[p.Record.Tag] == nil {
			f.records.defined[p.Record.Tag] = p.Record
			return f.w.Define(*p.Record)
		}
	case spec.Data:
		if p.Record == nil {
			return nil
		}
		switch p.Record.Tag {
		case spec.TagEvents, spec.TagEnd:
			return nil
		case spec.TagReduced:
			at, err := sddf.Field[sddf.Blob](p, "reduced")
			*dropped = at
			return err
		}
		values, err := f.values(p.Values)
		if err != nil {
			return err
		}
		return f.w.Data(p.Record.Tag, values...)
	}
	return nil
}

// values returns a packet's values with the contents of blobs.
func (f *File) values(list []any) ([]any, error) {
	list = slices.Clone(list)
	for i, v := range list {
		if at, ok := v.(sddf.Blob); ok {
			b, err := f.data.ReadBlob(nil, at)
			if err != nil {
				return nil, err
			}
			list[i] = b
		}
	}
	return list, nil
}

// before adds the counts of an earlier reduction of the file.
func (f *File) before(was sddf.Blob) error {
	b, err := f.data.ReadBlob(nil, was)
	if err != nil {
		return err
	}
	for ; len(b) >= 16; b = b[16:] {
		if p := binary.LittleEndian.Uint64(b) & (1<<32 - 1); p < spec.MaxProbes {
			*at(&f.dropped, uint32(p)) += binary.LittleEndian.Uint64(b[8:])
		}
	}
	return nil
}

// after writes the records that follow the events.
func (f *File) after() error {
	var b []byte
	for p, n := range f.dropped {
		if n != 0 {
			b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(p)), n)
		}
	}
	if b != nil {
		if err := f.w.Data(spec.TagReduced, f.clocks.last.ticks, b); err != nil {
			return err
		}
	}
	if f.end == nil {
		return nil
	}
	return f.w.Data(spec.TagEnd, f.end...)
}

// Said returns the messages about extensions that failed, and about damage.
func (f *File) Said() []string { return f.said }

func (f *File) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *File) drop(point uint32) { *at(&f.dropped, point)++ }

func (f *File) change(*block) bool { return true }

func (f *File) write(b *block) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.words))), 8*len(b.words))
	f.fail(f.w.Data(spec.TagEvents, b.num, b.tid, b.seq, b.ticks, b.g, b.proc, bytes))
}

func (f *File) packet(b []byte) { f.fail(f.w.Packet(b)) }

func (f *File) define(rec *spec.Record) uint32 {
	tag, added := f.records.tag(rec)
	if added != nil {
		f.fail(f.w.Define(*added))
	}
	return tag
}

func (f *File) record(tag uint32) *spec.Record { return f.records.byTag[tag] }

func (f *File) ns(ticks uint64) int64 { return f.clocks.ns(ticks) }

func (f *File) function(pc uint64) string { return f.names[pc] }

func (f *File) table(i int) ([]Point, uint32, bool) {
	if i >= len(f.tables) {
		return nil, 0, false
	}
	return f.tables[i].points, f.tables[i].base, true
}

func (f *File) say(line string) { f.said = append(f.said, line) }
