package perfetto_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/export/perfetto"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// All that lanes show is in the file, in the same order, and a packet refers to nothing that was
// not described before.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) { check(t, source) })
}

// Samples are in the file with their stacks.
func TestSamples(t *testing.T) {
	for _, text := range []bool{false, true} {
		b := tracetest.New(2).Attribute("build_id", "00ff41").Samples(1000, 1, func(string) bool { return true })
		if text {
			b.Text()
		}
		outer, inner := b.Proc("main.outer"), b.Proc("main.inner")
		g := b.Go(0, "main.main")
		b.Start(g, 0)
		b.Enter(g, outer)
		b.At(10_000)
		b.Enter(g, inner)
		b.At(30_000)
		b.Exit(g, inner)
		b.Exit(g, outer)
		b.End(g)
		found := strings.Join(check(t, b.At(40_000).Trace()), "\n")
		if n := strings.Count(found, "sample main.outer;main.inner of 00ff41 test"); n < 5 {
			t.Errorf("with text %v: found %d samples of main.inner, expected about 20, in %s", text, n, found)
		}
	}
}

// check compares a file with what lanes show, and returns what it found.
func check(t rapid.TB, source trace.Source) []string {
	want := recorder{t: source.Tables()}
	if _, _, err := lanes.Show(source, &want); err != nil {
		t.Fatal(err)
	}
	var out, again bytes.Buffer
	if _, _, err := perfetto.Write(&out, source); err != nil {
		t.Fatal(err)
	}
	if _, _, err := perfetto.Write(&again, source); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same trace is other bytes, error %v", err)
	}
	r := &reader{t: t, lanes: map[uint64]lanes.Lane{}, tracks: map[uint64]bool{0: true}, threads: map[uint64]lanes.ID{},
		names: map[uint64]map[uint64]string{}}
	for _, l := range want.Lanes() {
		r.lanes[uint64(l.ID)+100] = l
	}
	for _, p := range fields(t, out.Bytes()) {
		r.packet(fields(t, p.bytes))
	}
	lanestest.Same(t, r.found, want.Shown)
	return r.found
}

// recorder notes samples, too.
type recorder struct {
	lanestest.Recorder
	t *trace.Tables
}

// Sample notes one, with the functions of its code, or else the points of its path.
func (r *recorder) Sample(lane lanes.ID, at trace.Time, s trace.Sampled) {
	var list []string
	for id := s.Code; id != 0; id = r.t.Codes[id].From {
		list = append(list, r.t.Codes[id].Function)
	}
	for id := s.Path; id != 0 && s.Code == 0; id = r.t.Paths[id].From {
		list = append(list, r.t.NameOf(r.t.Paths[id].Point))
	}
	list = slices.DeleteFunc(list, func(name string) bool { return name == "" })
	slices.Reverse(list)
	line := fmt.Sprintf("%d %d sample", at, lane)
	if len(list) > 0 {
		id, _ := r.t.Attr("build_id").(string)
		line += fmt.Sprint(" ", strings.Join(list, ";"), " of ", id, " ", r.t.Attr("program"))
	}
	r.Shown = append(r.Shown, strings.ToValidUTF8(line, "\ufffd"))
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
	t       rapid.TB
	lanes   map[uint64]lanes.Lane
	tracks  map[uint64]bool
	threads map[uint64]lanes.ID
	names   map[uint64]map[uint64]string // by their field of interned data
	at      uint64
	found   []string
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
				r.intern(x.of, fields(r.t, x.bytes))
			}
		case 60:
			r.descriptor(fields(r.t, f.bytes))
		case 11:
			r.event(fields(r.t, f.bytes))
		case 66:
			r.sample(fields(r.t, f.bytes))
		}
	}
}

// intern notes an entry of interned data: what it has, by its number. One that consists of others
// comes after them in the file.
func (r *reader) intern(of uint64, entry []field) {
	text := string(entry[1].bytes)
	part := func(f field, of uint64) string {
		name, ok := r.names[of][f.number]
		if !ok {
			r.t.Errorf("entry %d of kind %d is used, and not there", f.number, of)
		}
		return name
	}
	switch of {
	case 16: // a build id
		text = hex.EncodeToString(entry[1].bytes)
	case 19: // a mapping: build id and path
		text = part(entry[1], 16) + " " + part(entry[2], 17)
	case 6: // a frame: function, mapping and address
		text = part(entry[1], 5)
		r.names[60] = map[uint64]string{1: part(entry[2], 19)}
		if entry[3].of != 4 || entry[3].number != 0 {
			r.t.Errorf("the frame of %s has the address %+v, expected 0", text, entry[3])
		}
	case 7: // a stack: frames, outermost first
		var list []string
		for _, f := range entry[1:] {
			list = append(list, part(f, 6))
		}
		text = strings.Join(list, ";")
	}
	if r.names[of] == nil {
		r.names[of] = map[uint64]string{}
	}
	r.names[of][entry[0].number] = text
}

func (r *reader) sample(list []field) {
	line := ""
	for _, f := range list {
		switch f.of {
		case 3:
			lane, ok := r.threads[f.number]
			if !ok {
				r.t.Errorf("a sample is of thread %d, which is not described", f.number)
			}
			line = fmt.Sprintf("%d %d sample", r.at, lane)
		case 4:
			stack, ok := r.names[7][f.number]
			if !ok {
				r.t.Errorf("a sample has the stack %d, which is not there", f.number)
			}
			line += fmt.Sprint(" ", stack, " of ", r.names[60][1])
		}
	}
	r.found = append(r.found, line)
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
				switch x.of {
				case 2:
					r.threads[x.number] = r.lanes[uuid].ID
				case 5:
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
			category = r.names[1][f.number]
		case 9:
			kind = f.number
		case 10:
			name = r.names[2][f.number]
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
