package tracetest

import (
	"encoding/binary"
	"math/rand/v2"

	"qinst.dev/sddf/spec"
)

// sampling makes a builder's trace one of samples.
type sampling struct {
	gap      float64 // ns
	rand     *rand.Rand
	untraced func(proc string) bool
	next     int64 // time of the next look
	th       *thread
	stacks   map[G][]uint32 // points, with flagUntraced
	paths    map[[2]uint32]uint32
	nodes    []byte

	text   bool // samples have the running text
	places map[place]uint32
	codes  []byte
}

// place is a line of a procedure with its callers.
type place struct {
	from, point uint32
	line        uint64
}

// The sampled lines of procedures: three of four times Often.
const (
	Rare  = 7
	Often = 8
)

// flagUntraced marks an entry without an event.
const flagUntraced = 1 << 31

// Samples makes the procedures chosen by untraced write no events, and a sampler look at all
// processors instead, at random times gap ns apart on average. It must be called before the first
// step.
func (b *Builder) Samples(gap int64, seed uint64, untraced func(proc string) bool) *Builder {
	b.samples = &sampling{gap: float64(gap), rand: rand.New(rand.NewPCG(seed, 1)), untraced: untraced,
		th:     b.newThread(),
		stacks: map[G][]uint32{}, paths: map[[2]uint32]uint32{}, places: map[place]uint32{}}
	b.samples.draw(0)
	return b
}

// Text makes samples have the running text. Then half of the looks do not
// find the procedures without events on profile stacks, as if they ran without their probes.
func (b *Builder) Text() *Builder {
	b.samples.text = true
	return b
}

func (s *sampling) draw(now int64) { s.next = now + int64(s.gap*s.rand.ExpFloat64()) }

// look takes the samples up to a time.
func (b *Builder) look(until int64) {
	s := b.samples
	for s.next <= until {
		b.now = s.next
		first := uint64(1) << 63
		for _, g := range b.Running() {
			w := uint64(s.gap/1000)<<32 | first
			if s.text {
				b.event(s.th, spec.EvLook, uint64(b.on(g).id), uint64(s.path(g, s.rand.IntN(2) == 0))|w,
					uint64(b.code(g)))
			} else {
				b.event(s.th, spec.EvSample, uint64(b.on(g).id), uint64(s.path(g, true))|w)
			}
			first = 0
		}
		s.draw(s.next)
	}
}

// enter notes an entry and reports whether it needs an event.
func (b *Builder) enter(g G, proc uint32) bool {
	s := b.samples
	if s == nil {
		return true
	}
	if s.untraced(b.points.list[proc].name) {
		b.points.list[proc].hits++
		s.stacks[g] = append(s.stacks[g], proc|flagUntraced)
		return false
	}
	s.stacks[g] = append(s.stacks[g], proc)
	return true
}

// exit notes an exit and reports whether it needs an event.
func (b *Builder) exit(g G) bool {
	s := b.samples
	if s == nil {
		return true
	}
	top := len(s.stacks[g]) - 1
	point := s.stacks[g][top]
	s.stacks[g] = s.stacks[g][:top]
	return point&flagUntraced == 0
}

// code returns the code of a goroutine, 0 if it is in no procedure.
func (b *Builder) code(g G) (n uint32) {
	s := b.samples
	for _, point := range s.stacks[g] {
		key := place{n, point &^ flagUntraced, Often}
		if s.rand.IntN(4) == 0 {
			key.line = Rare
		}
		next, ok := s.places[key]
		if !ok {
			next = uint32(len(s.places) + 1)
			s.places[key] = next
			s.codes = binary.LittleEndian.AppendUint64(s.codes, uint64(n)|key.line<<32)
			s.codes = binary.LittleEndian.AppendUint64(s.codes, b.tables.pc(b.points.list[key.point].name))
		}
		n = next
	}
	return n
}

// path returns the path of a goroutine, 0 if it is in no procedure. all is false for procedures
// with events alone.
func (s *sampling) path(g G, all bool) (n uint32) {
	for _, point := range s.stacks[g] {
		if !all && point&flagUntraced != 0 {
			continue
		}
		key := [2]uint32{n, point}
		next, ok := s.paths[key]
		if !ok {
			next = uint32(len(s.paths) + 1)
			s.paths[key] = next
			s.nodes = binary.LittleEndian.AppendUint64(s.nodes,
				uint64(n)|uint64(point&^flagUntraced)<<32|uint64(point&flagUntraced)<<32)
		}
		n = next
	}
	return n
}

// creates returns the path for a goroutine that g starts, 0 if events show all of it.
func (s *sampling) creates(g G) uint64 {
	if s == nil {
		return 0
	}
	for _, point := range s.stacks[g] {
		if point&flagUntraced != 0 {
			return uint64(s.path(g, true))
		}
	}
	return 0
}
