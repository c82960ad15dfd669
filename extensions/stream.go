package extensions

import (
	"unsafe"

	"qinst.dev/sddf/spec"
)

// block is a run of a thread's events, as the file has it.
type block struct {
	num, tid   uint32
	seq        uint64
	ticks, g   uint64
	proc       int32
	words      []uint64       // so far
	full       bool           // there will be no more
	chunk      unsafe.Pointer // the event buffer in memory, if any
	dropped    []uint64       // a bit for each word: its event is dropped
	drops      bool           // one is set, or there are
	rewritten  []rewrite
	counted    int // words whose dropped events have been counted
	unreadable int // first word that cannot be decoded; 0: all can
}

// rewrite is a word that has another value.
type rewrite struct {
	at   int
	word uint64
}

// stream is the unread buffers of a thread.
type stream struct {
	blocks []*block // the oldest first, which is being read
	load   func() *block
	num    uint32
	next   uint64 // number of the next block to be taken in
	pos    int    // in its words
	due    uint64 // time of the next event
	starts uint64 // if the next event starts this goroutine: number of the transition; otherwise 0
	begun  bool
	time   uint64
	g      uint64
}

// open makes the first block ready; it reports whether there is one.
func (s *stream) open() bool {
	if len(s.blocks) == 0 && s.load != nil {
		if b := s.load(); b != nil {
			s.blocks = append(s.blocks, b)
		}
	}
	if len(s.blocks) == 0 {
		return false
	}
	if !s.begun {
		b := s.blocks[0]
		s.begun, s.pos, s.time, s.g = true, 0, b.ticks, b.g
	}
	return true
}

// ahead is the time of the next event; false if it is not there yet.
func (s *stream) ahead() (uint64, bool) {
	b := s.blocks[0]
	for s.pos < len(b.words) {
		w := b.words[s.pos]
		if byte(w>>24) != spec.EvTime || s.pos+1 >= len(b.words) {
			return s.time + w>>32, true
		}
		s.time = b.words[s.pos+1]
		s.pos += 2
	}
	return 0, false
}

// done releases the first buffer.
func (s *stream) done() {
	copy(s.blocks, s.blocks[1:])
	s.blocks = s.blocks[:len(s.blocks)-1]
	s.begun = false
}

// lengths are the words of events, by kind; tails marks kinds followed by packets.
var lengths, tails = func() (n [256]uint8, t [256]bool) {
	for _, v := range spec.Events.Variants {
		n[v.Kind], t[v.Kind] = uint8(v.Words), v.Tail != ""
	}
	return n, t
}()

// size is the number of words of the event at pos, 0 if it is not whole.
func size(words []uint64, pos int) int {
	kind := byte(words[pos] >> 24)
	n := int(lengths[kind])
	if tails[kind] && pos+1 < len(words) {
		n += int((words[pos+1]&(1<<32-1) + 7) / 8)
	}
	if n > len(words)-pos {
		return 0
	}
	return n
}

// packetAt is the packet of the record event at pos.
func packetAt(words []uint64, pos int) []byte {
	n := int(uint32(words[pos+1]))
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[pos+2])), n)
}

const goMask = 1<<spec.GoBits - 1

// stretch reads the next events of the thread's goroutine, up to the time limit, as far as the
// batch has room and the goroutine stays there.
func (p *pipeline) stretch(s *stream, limit uint64) {
	blk := s.blocks[0]
	words := blk.words
	ev := p.room[:0]
	b := &p.batch
	b.Goroutine, b.Thread, b.words = s.g, blk.num, words[s.pos:]
	pos, time, base := s.pos, s.time, s.pos
loop:
	for {
		n, read, now := plain(&p.wants, ev[len(ev):cap(ev)], words[pos:max(pos, min(len(words), base+1<<14))],
			int16(pos-base), time, limit)
		ev, pos, time = ev[:len(ev)+n], pos+read, now
		if len(ev) == cap(ev) || pos >= len(words) || pos-base >= 1<<14 {
			break
		}
		w := words[pos]
		at := time + w>>32
		if at > limit {
			break
		}
		kind := byte(w >> 24)
		if n = size(words, pos); n == 0 {
			blk.unreadable, pos = pos, len(words)
			break
		}
		e := Event{Time: at, Kind: Kind(kind), at: int16(pos - base)}
		if n > 1 {
			e.Arg = words[pos+1]
		}
		leaves := false
		switch kind {
		case spec.EvTime:
			time = words[pos+1]
			pos += n
			continue
		case spec.EvGoroutine, spec.EvGoStart, spec.EvGoCreateSyscall:
			if pos > base {
				break loop // streams are in the order in which their stretches begin
			}
			s.g = words[pos+1] & goMask
			b.Goroutine = s.g
			e.Kind, e.Arg = Start, 0
			if kind == spec.EvGoroutine {
				e.Kind = 0 // it ran before
			}
		case spec.EvGoSwitch:
			if s.g != 0 { // its meaning for the goroutine that leaves; it is read again
				if e.Kind = Wait; w&1 != 0 {
					e.Kind = End
				}
				e.Arg = 0
				if p.wants[e.Kind]&wanted != 0 {
					ev = append(ev, e)
				}
				s.g = 0
				break loop
			}
			if pos > base {
				break loop // streams are in the order in which their stretches begin
			}
			s.g = words[pos+1] & goMask
			b.Goroutine = s.g
			e.Kind, e.Arg = Start, 0
		case spec.EvGoPark:
			e.Kind, leaves = Wait, true
		case spec.EvGoWait:
			e.Arg &= 1<<spec.AddressBits - 1
			leaves = true
		case spec.EvGoStop:
			leaves = true
		case spec.EvGoEnd, spec.EvGoEndSyscall:
			e.Kind, leaves = End, true
		case spec.EvSyscallEndNoP:
			e.Kind, leaves = Stop, true
		case spec.EvGoCreate, spec.EvGoUnpark:
			e.Arg &= goMask
		case spec.EvGoUnparkBy:
			e.Kind, e.Arg = Wake, e.Arg&goMask
		case spec.EvSync:
			e.Point, e.Arg = uint32(w&(1<<24-1)), e.Arg&(1<<spec.AddressBits-1)
		case spec.EvRecord:
			e.Point, e.Arg = uint32(w&(1<<24-1)), 0
		case spec.EvLeave:
			e.Point = uint32(w & (1<<24 - 1))
		case spec.EvUnwind:
			e.Arg = w & (1<<24 - 1)
		case spec.EvGap:
			e.Arg = words[pos+2]
		}
		time = at
		pos += n
		if p.wants[e.Kind]&wanted != 0 {
			ev = append(ev, e)
		}
		if leaves {
			s.g = 0
			break
		}
	}
	s.pos, s.time = pos, time
	b.Events = ev
}

// plain decodes events of one word, up to the first that is not plain, the limit or the end. Its
// time matters, so it has few variables, which stay in registers.
func plain(wants *[256]uint8, ev []Event, words []uint64, at int16, now, limit uint64) (n, read int, last uint64) {
	for i, w := range words {
		want := wants[byte(w>>24)]
		t := now + w>>32
		if want > wanted || t > limit {
			return n, i, now
		}
		if want == wanted {
			if n >= len(ev) {
				return n, i, now
			}
			e := &ev[n]
			e.Time, e.Arg = t, 0
			e.Point = uint32(w & (1<<24 - 1))
			e.Kind, e.gone, e.at = Kind(w>>24), false, at+int16(i)
			n++
		}
		now = t
	}
	return n, len(words), now
}

// The classes of events for the decoder: a plain event is skipped, or delivered unchanged. The
// others have several words, or change the meaning of later ones.
const (
	wanted  = 1 << 0 // delivered
	special = 1 << 1 // not plain
)

// finish writes a block that was read to its end.
func (p *pipeline) finish(s *stream) {
	b := s.blocks[0]
	if b.drops {
		if !p.sink.change(b) {
			return
		}
		b.words = b.compact(b.words, p.sink)
	}
	p.sink.write(b)
	s.done()
}

// compact removes the dropped events from a buffer's words in place, and reports their points to
// the sink. Times of events are differences, so that of a dropped event is added to the next one,
// or to a filler word if the sum does not fit.
func (b *block) compact(words []uint64, s sink) []uint64 {
	for _, r := range b.rewritten {
		words[r.at] = r.word
	}
	to := 0
	owed := uint64(0)
	for pos := 0; pos < len(words); {
		n := 0
		if b.unreadable == 0 || pos < b.unreadable {
			n = size(words, pos)
		}
		if n == 0 {
			to += copy(words[to:], words[pos:])
			break
		}
		w := words[pos]
		if b.dropped[pos/64]>>(pos%64)&1 != 0 {
			switch w >> 24 & 0xff {
			case spec.EvEnter, spec.EvSync, spec.EvRecord:
				if point := uint32(w & (1<<24 - 1)); point < spec.MaxProbes && pos >= b.counted {
					s.drop(point)
				}
			}
			if owed += w >> 32; owed>>32 != 0 {
				words[to] = (owed-w>>32)<<32 | spec.EvUnwind<<24 | (1<<24 - 1)
				owed = w >> 32
				to++
			}
			pos += n
			continue
		}
		kind := byte(w >> 24)
		switch {
		case kind == spec.EvTime:
			owed = 0
		case owed != 0:
			if owed += w >> 32; owed>>32 != 0 {
				words[to] = (owed-w>>32)<<32 | spec.EvUnwind<<24 | (1<<24 - 1)
				owed = w >> 32
				to++
			}
			w = owed<<32 | w&(1<<32-1)
			owed = 0
		}
		copy(words[to:], words[pos:pos+n])
		words[to] = w
		to += n
		pos += n
	}
	return words[:to]
}
