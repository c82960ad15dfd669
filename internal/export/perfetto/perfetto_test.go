package perfetto_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/export/perfetto"
	"qinst.dev/internal/trace"
)

// All that lanes show is in the file, in the same order, and a packet refers to nothing that was
// not described before.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		var want lanestest.Recorder
		if _, _, err := lanes.Show(source, &want); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, _, err := perfetto.Write(&out, source); err != nil {
			t.Fatal(err)
		}
		r := &reader{t: t, lanes: map[uint64]lanes.Lane{}, tracks: map[uint64]bool{0: true}, names: map[uint64]string{},
			categories: map[uint64]string{}}
		for _, l := range want.Lanes() {
			r.lanes[uint64(l.ID)+100] = l
		}
		for _, p := range fields(t, out.Bytes()) {
			r.packet(fields(t, p.bytes))
		}
		lanestest.Same(t, r.found, want.Shown)
	})
}

// field is one of a message: a number, or bytes.
type field struct {
	of     uint64
	number uint64
	bytes  []byte
}

// fields takes a message apart.
func fields(t rapid.TB, b []byte) (list []field) {
	varint := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("no number at %x", b[:min(len(b), 16)])
		}
		b = b[n:]
		return x
	}
	for len(b) > 0 {
		tag := varint()
		f := field{of: tag >> 3}
		switch tag & 7 {
		case 0:
			f.number = varint()
		case 1:
			f.number, b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			n := varint()
			f.bytes, b = b[:n:n], b[n:]
		default:
			t.Fatalf("wire type %d", tag&7)
		}
		list = append(list, f)
	}
	return list
}

// reader puts a file into the words of a [lanestest.Recorder].
type reader struct {
	t                 rapid.TB
	lanes             map[uint64]lanes.Lane
	tracks            map[uint64]bool
	names, categories map[uint64]string
	at                uint64
	found             []string
}

func (r *reader) note(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

func (r *reader) packet(list []field) {
	for _, f := range list {
		switch f.of {
		case 8:
			r.at = f.number
		case 12:
			for _, x := range fields(r.t, f.bytes) {
				entry := fields(r.t, x.bytes)
				to := map[uint64]map[uint64]string{1: r.categories, 2: r.names}[x.of]
				to[entry[0].number] = string(entry[1].bytes)
			}
		case 60:
			r.descriptor(fields(r.t, f.bytes))
		case 11:
			r.event(fields(r.t, f.bytes))
		}
	}
}

func (r *reader) descriptor(list []field) {
	var uuid uint64
	name := ""
	for _, f := range list {
		switch f.of {
		case 1:
			uuid = f.number
		case 2:
			name = string(f.bytes)
		case 4:
			for _, x := range fields(r.t, f.bytes) {
				if x.of == 5 {
					name = string(x.bytes)
				}
			}
		case 5:
			if !r.tracks[f.number] {
				r.t.Errorf("track %d is in %d, which is not described", uuid, f.number)
			}
		}
	}
	r.tracks[uuid] = true
	if l, ok := r.lanes[uuid]; ok {
		r.note("%s %d %q", l.Group, l.ID, name)
	}
}

func (r *reader) event(list []field) {
	var kind, flow uint64
	var value int64
	var name, category string
	var l lanes.Lane
	for _, f := range list {
		switch f.of {
		case 3:
			category = r.categories[f.number]
		case 9:
			kind = f.number
		case 10:
			name = r.names[f.number]
		case 11:
			if l = r.lanes[f.number]; !r.tracks[f.number] {
				r.t.Errorf("an event is of track %d, which is not described", f.number)
			}
		case 30:
			value = int64(f.number)
		case 47, 48:
			flow = f.number
		}
	}
	switch kind {
	case 1:
		r.note("%d %d begin %s %q flow %d", r.at, l.ID, category, name, flow)
	case 2:
		r.note("%d %d end", r.at, l.ID)
	case 3:
		r.note("%d %d %s flow %d", r.at, l.ID, name, flow)
	case 4:
		r.note("%d %d value %d", r.at, l.ID, value)
	default:
		r.t.Errorf("event of type %d", kind)
	}
}

// A name that is no UTF-8 does not make the file unreadable.
func TestNames(t *testing.T) {
	var out bytes.Buffer
	if _, _, err := perfetto.Write(&out, lanestest.Named("main.\xff</script>\x00")); err != nil {
		t.Fatal(err)
	}
	if b := out.Bytes(); !bytes.Contains(b, []byte("main.\ufffd</script>\x00")) || bytes.Contains(b, []byte{0xff, '<'}) {
		t.Errorf("%q", b)
	}
}
