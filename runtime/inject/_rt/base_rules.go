package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// The rule of a point is found when its package registers, and whenever a rule is added.
// Matching names is slow and is never done for a hit. A probe sees only the quota of a
// counter, or a byte that shows that the point is off.
//
// Rules are in an array of fixed size with their texts next to them, because they are read
// by threads that cannot hold pointers to the heap.

// Rules set the limits of points: QINST=main.(*Cache).*=1e4/s, kind:loop=count.

type qinstRule struct {
	text         uintptr // its name as it was given; the rule is of the last one of a name
	size, prefix uint32  // bytes of it; of these the kind and a colon
	limit        qinstRateLimit
	most         qinstRateLevel // highest level
	found        bool           // a point that it is about
	small        bool           // it is about small procedures, which it cannot change
	called       bool           // it would delay calls, which it cannot
	told         bool           // its author has been told that no point was found
	ticks        uint64         // that hits take longer
	ns           uint64         // the same
	behind       uint64         // likewise, after a barrier of the tool's

	// Of a barrier: the line of the calls that it is about, 0 for all, how much of the name says
	// so, and the last earlier rule about other calls of the same procedure, and 1.
	meets       bool
	line, lined uint32
	same        uint8
}

// There are 64 rules at most. A point notes the number of its own as a byte, because that
// is kept for each of a million points.
var (
	qinstRules    [64]qinstRule
	qinstNRules   int
	qinstRuleText [16 << 10]byte
	qinstRuleUsed int
)

// name returns the user's text in front of "=". It is stored outside the heap, because
// rules come from goroutines and the writer reads them.
// Context: start, goroutine, writer.
func (r *qinstRule) name() string {
	return qinstString((*byte)(unsafe.Pointer(r.text)), int(r.size))
}

// kind is "" for a rule about points of any kind; "odd" is every other point.
// Context: start, goroutine, writer.
func (r *qinstRule) kind() string {
	if r.prefix == 0 {
		return ""
	}
	if kind := r.name()[:r.prefix-1]; kind != "kind" {
		return kind
	}
	return r.name()[r.prefix:]
}

// pattern returns the pattern with which names of points are compared.
// Context: start, goroutine, writer.
func (r *qinstRule) pattern() string {
	if r.prefix == 5 && r.name()[:4] == "kind" {
		return "*"
	}
	return r.name()[r.prefix : r.size-r.lined]
}

// barrier takes the line of a barrier's name apart from it.
// Context: start, goroutine, writer.
func (r *qinstRule) barrier(number int) {
	name := r.name()
	for i := len(name) - 1; i > 0 && name[i] >= '0' && name[i] <= '9'; i-- {
		if name[i-1] == '@' {
			line, _, _ := qinstRateParseNumber(name[i:])
			r.line, r.lined = uint32(line), uint32(len(name)-i+1)
		}
	}
	r.meets = true
	for k := range number {
		if o := &qinstRules[k]; o.meets && o.pattern() == r.pattern() {
			r.same = uint8(k + 1)
		}
	}
	qinstMeetings[number].begin()
}

// qinstRuleNamed is the index of the rule of a name, a new one if there is none; -1 if
// there is no room.
// Context: start, goroutine, writer.
func qinstRuleNamed(name string) int {
	for i := range qinstNRules {
		if qinstRules[i].name() == name {
			return i
		}
	}
	if qinstNRules == len(qinstRules) || len(name) > len(qinstRuleText)-qinstRuleUsed {
		return -1
	}
	text := qinstRuleText[qinstRuleUsed:]
	qinstRuleUsed += copy(text, name)
	r := &qinstRules[qinstNRules]
	r.text, r.size, r.prefix = uintptr(unsafe.Pointer(&text[0])), uint32(len(name)), uint32(qinstIndex(name, ':')+1)
	if qinstSettingIsBarrier(name) {
		r.barrier(qinstNRules)
	}
	qinstNRules++
	return qinstNRules - 1
}

// qinstLimitOf reads a rule's limit; it reports false if it makes no sense, or none for such
// points.
// Context: start, goroutine, writer.
func qinstLimitOf(name, value string) (limit qinstRateLimit, most qinstRateLevel, ok bool) {
	limit, most, ok = qinstRateParseLimit(value)
	if qinstSettingIsBarrier(name) {
		ok = ok && limit.Delays
	} else {
		ok = ok && limit.Participants == 0
	}
	return limit, most, ok && name != ""
}

// qinstAddRule takes a rule in; it reports false if it makes no sense, or there are
// too many.
// Context: start, goroutine, writer.
func qinstAddRule(name, value string) bool {
	limit, most, ok := qinstLimitOf(name, value)
	if !ok {
		return false
	}
	i := qinstRuleNamed(name)
	if i < 0 {
		return false
	}
	r := &qinstRules[i]
	if limit.Delays {
		r.ns = uint64(limit.Delay)
		r.ticks, r.behind = qinstTicksOf(limit.Delay), qinstTicksOf(limit.Behind)
	}
	r.limit, r.most = limit, most
	return true
}

// qinstNearestOf is the word that was probably meant where a rule has none that exists,
// "" if there is none.
// Context: goroutine, writer.
func qinstNearestOf(name, value string) string {
	if kind, unknown := qinstSettingUnknownKind(name); unknown {
		return qinstSettingNearestKind(kind)
	}
	return qinstSettingNearestLimit(value)
}

// qinstChangeRates adds rules and applies them to all points there are. It changes nothing
// and reports false if one of them makes no sense, or no room is left. It holds the
// memory's lock, so it must be on a system stack.
// Context: goroutine, writer.
func qinstChangeRates(names, last string) (ok bool) {
	qinstLockMemory()
	qinstPrepareControl()
	if ok = qinstControlled && qinstRulesFit(names, last); ok {
		qinstEachChange(names, last, func(name, value string) bool {
			qinstAddRule(name, value)
			i := qinstRuleNamed(name)
			for k := range qinstNTables {
				qinstApplyRule(&qinstTables[k], i)
			}
			return true
		})
	}
	qinstUnlockMemory()
	return ok
}

// qinstRulesFit reports whether all changes make sense and there is room for their rules.
// A name that comes twice may take room twice.
// Context: goroutine, writer.
func qinstRulesFit(names, last string) bool {
	rules, bytes := qinstNRules, qinstRuleUsed
	return qinstEachChange(names, last, func(name, value string) bool {
		if _, _, ok := qinstLimitOf(name, value); !ok {
			return false
		}
		if _, unknown := qinstSettingUnknownKind(name); unknown {
			return false
		}
		for i := range qinstNRules {
			if qinstRules[i].name() == name {
				return true
			}
		}
		rules++
		bytes += len(name)
		return rules <= len(qinstRules) && bytes <= len(qinstRuleText)
	})
}

// qinstEachChange calls do for each of the changes until it returns false.
// Context: goroutine, writer.
func qinstEachChange(names, last string, do func(name, value string) bool) bool {
	for {
		end := qinstIndex(names, '\n')
		if end < 0 {
			return do(names, last)
		}
		i := qinstIndex(names[:end], '=')
		if i < 0 || !do(names[:i], names[i+1:end]) {
			return false
		}
		names = names[end+1:]
	}
}

// qinstApplyRule applies a rule to the matching points of a table.
// A later rule wins, so that it overwrites earlier rules of the same point.
// Context: start, goroutine, writer.
func qinstApplyRule(t *qinstTable, rule int) {
	r := &qinstRules[rule]
	identities := qinstIdentities(t.text())
	identities.array()
	next := uint32(0)
	qinstNames(t.text(), qinstLocked, func(i uint32, kind, name, op string) bool {
		id := uint64(0)
		for ; next <= i; next++ {
			id = identities.number()
		}
		if r.names(t.base+i, id, kind, name, op) {
			o := qinstRulingOf(t.base + i)
			own := qinstKindOf(t.base + i)
			if r.limit.Delays && qinstKind(kind) != qinstPair && kind != "sync" {
				r.called = true
				return true // calls and records have no time of their own
			}
			if own == qinstCalls && r.most != qinstRateOff && (o.rule == 0 || r.most < qinstRateCount) {
				r.small = r.small || qinstKind(kind) == qinstPair
				return true // calls and small procedures are counted, or off
			}
			o.rule, o.kind, o.role, r.found = uint8(rule+1), own, r.role(op), true
			qinstRuled(t.base + i)
		}
		return true
	})
}

// names reports whether a rule is about a point. "odd" is half of all points, whichever: "qinst run
// -check" compares a run with half of the probes to one with all.
// Context: start, goroutine, writer.
func (r *qinstRule) names(point uint32, id uint64, kind, name, op string) bool {
	switch r.kind() {
	case "id":
		given, ok := qinstHex(r.pattern())
		return ok && given == id
	case "hold":
		if op != "lock" && op != "rlock" && op != "trylock" && op != "tryrlock" {
			return false
		}
	case "barrier":
		if !r.meets || kind != "proc" && r.role(op) == qinstRoleNone {
			return false
		}
	case "odd":
		if point&1 == 0 {
			return false
		}
	case "", kind:
	default:
		return false
	}
	return qinstRateMatches(r.pattern(), name)
}

// role is what an operation is in the barrier that a rule is about.
// Context: start, goroutine, writer.
func (r *qinstRule) role(op string) uint8 {
	switch {
	case !r.meets:
	case op == "add":
		return qinstRoleAdd
	case op == "done":
		return qinstRoleArrive
	case op == "wait":
		return qinstRoleWait
	}
	return qinstRoleNone
}

// qinstHex reads a number of up to 16 hexadecimal digits.
// Context: start, goroutine, writer.
func qinstHex(s string) (v uint64, ok bool) {
	for i := 0; i < len(s); i++ {
		d := s[i] | 0x20
		switch {
		case d >= '0' && d <= '9':
			d -= '0'
		case d >= 'a' && d <= 'f':
			d -= 'a' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, len(s) > 0 && len(s) <= 16
}

// qinstPacked reads msgpack that the tool has written, of arrays, strings and numbers
// that are not negative, from one address to another: the writer may not store
// pointers.
type qinstPacked struct{ at, end uintptr }

// qinstPackedOf begins to read a text.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func qinstPackedOf(s string) qinstPacked {
	at := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	return qinstPacked{at, at + uintptr(len(s))}
}

// peek returns the next byte, 0 at the end. It needs no error, because the tool itself
// wrote the data.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPacked) peek() byte {
	if p.at == p.end {
		return 0
	}
	return *(*byte)(unsafe.Pointer(p.at))
}

// byte takes the next byte.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPacked) byte() byte {
	b := p.peek()
	// Reading stops at the end of the table, whatever lengths say, because a wrong length
	// must not end the program.
	if p.at < p.end {
		p.at++
	}
	return b
}

// big takes a number of n bytes, most significant first.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPacked) big(n int) (v uint64) {
	for ; n > 0; n-- {
		v = v<<8 | uint64(p.byte())
	}
	return v
}

// number takes a number.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPacked) number() uint64 {
	switch b := p.byte(); b {
	case 0xcc, 0xcd, 0xce, 0xcf:
		return p.big(1 << (b - 0xcc))
	default:
		return uint64(b)
	}
}

// array takes the head of an array and returns its length.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPacked) array() uint64 {
	switch b := p.byte(); b {
	case 0xdc:
		return p.big(2)
	case 0xdd:
		return p.big(4)
	default:
		return uint64(b & 0xf)
	}
}

// str takes a string, which shares the memory.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPacked) str() string {
	n := uint64(0)
	switch b := p.byte(); b {
	case 0xd9:
		n = p.big(1)
	case 0xda:
		n = p.big(2)
	case 0xdb:
		n = p.big(4)
	default:
		n = uint64(b & 0x1f)
	}
	n = min(n, uint64(p.end-p.at))
	s := qinstString((*byte)(unsafe.Pointer(p.at)), int(n))
	p.at += uintptr(n)
	return s
}

// skip passes over a value.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (p *qinstPacked) skip() {
	switch b := p.peek(); {
	case b >= 0xa0 && b <= 0xbf, b >= 0xd9 && b <= 0xdb:
		p.str()
	case b >= 0x90 && b <= 0x9f, b == 0xdc, b == 0xdd:
		for n := p.array(); n > 0 && p.at < p.end; n-- {
			p.skip()
		}
	default:
		p.number()
	}
}

// qinstPlaces has two arrays for the places of the strings of an array, because points name
// the strings in any order. One is for holders of the memory's lock, the other for the
// writer, which does not hold it.
var qinstPlaces [2]qinstRoom // of uintptr

const (
	qinstLocked = iota
	qinstWriters

	qinstMostPlaces = 1 << 22
)

// qinstFindPlaces notes where each string is. Points name strings by number, and to look
// for each from the beginning would be quadratic.
// Context: start, goroutine, writer.
func qinstFindPlaces(places *qinstRoom, strs qinstPacked) (n uint64) {
	if n = min(strs.array(), qinstMostPlaces); !places.upTo(uintptr(n) * 8) {
		return 0
	}
	for i := range n {
		*(*uintptr)(unsafe.Pointer(places.base + uintptr(i)*8)) = strs.at
		strs.skip()
	}
	return n
}

// qinstNames calls f for each point of a package's table that rules can be about,
// until it returns false. The functions do not outlive the call, and f does not call it.
// There are two scratch tables, one under the lock and one for the writer, because the
// writer must not wait for a program's goroutine here.
// Context: start, goroutine, writer.
func qinstNames(table string, who int, f func(i uint32, kind, name, op string) bool) {
	// 32 MiB of addresses, of which only as many are touched as a package has strings.
	places := &qinstPlaces[who]
	if places.base == 0 && !places.reserve(qinstMostPlaces*8, 1<<14) { // few programs have rules
		return
	}
	strs, kinds, names := qinstColumns(table)
	ops := names
	for range 5 { // names, owners, files, lines, flags
		ops.skip()
	}
	found := qinstFindPlaces(places, strs)
	n := kinds.array()
	names.array()
	ops.array()
	text := func(number uint64) string {
		at := strs
		at.at = *(*uintptr)(unsafe.Pointer(places.base + uintptr(number)*8))
		return at.str()
	}
	for i := uint32(0); i < uint32(n); i++ {
		kind, name, op := kinds.str(), names.number(), ops.number()
		if qinstKind(kind) == 0 || name >= found || op >= found {
			continue
		}
		if !f(i, kind, text(name), text(op)) {
			return
		}
	}
}

// qinstIdentities is the column of identities in a table.
// Context: start, goroutine, writer.
func qinstIdentities(table string) qinstPacked {
	t := qinstPackedOf(table)
	t.skip() // package
	t.skip() // strings
	return t
}

// qinstColumns are the columns of a table that matter here.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func qinstColumns(table string) (strs, kinds, names qinstPacked) {
	t := qinstPackedOf(table)
	t.skip() // package
	strs = t
	t.skip()
	t.skip() // identities
	kinds = t
	t.skip()
	return strs, kinds, t
}

// qinstKindOf finds a point's kind in its table, and then those of the others there, and where
// their procedures begin.
// Context: start, probe, end, goroutine, writer, jumper, reducer.
func qinstKindOf(point uint32) (kind uint8) {
	t := qinstTableOf(point)
	if t == nil {
		return 0
	}
	if !t.kinds {
		t.kinds = true
		_, kinds, names := qinstColumns(t.text())
		n := uint32(kinds.array())
		owners := names
		owners.skip()
		flags := owners
		for range 3 { // owners, files, lines
			flags.skip()
		}
		stands := flags // representatives
		for range 2 {   // flags, operations
			stands.skip()
		}
		loops := stands
		loops.skip()
		owners.array()
		flags.array()
		stands.array()
		loops.array()
		for i := range n {
			o := qinstRulingOf(t.base + i)
			kind, flag, stand := kinds.str(), flags.number(), uint32(stands.number())
			o.kind = qinstKind(kind)
			if flag&qinstFlagSmall != 0 {
				o.kind = qinstCalls // it can only be counted, too
			}
			o.within, o.loop = i-uint32(owners.number()), i-uint32(loops.number())
			switch {
			case flag&qinstFlagServes != 0:
				o.role = qinstServes
			case kind == "go" && flag&qinstFlagTwice != 0:
				if o.role = qinstStarts; stand == i {
					o.role |= qinstCreates // it has a counter
				}
			case kind == "go": // what it starts is told of by the profile stack
				if p := qinstRulingOf(t.base + i - o.within); p.hold != 0 {
					p.hold, p.role, o.role = qinstProcCounted, qinstStarts, qinstStarts
				}
			case kind == "sync":
				if p := qinstRulingOf(t.base + i - o.within); p.hold == qinstProcEntered {
					p.hold, p.role = qinstProcCounted, qinstOperates
				}
			case flag&qinstFlagTwice != 0:
				o.hold = qinstProcEntered
			case o.kind != qinstPair || o.within != 0:
			default:
				o.hold = qinstProcCounted
			}
		}
		atomic.Store8(&t.known, 1)
	}
	return qinstRulingOf(point).kind
}

// qinstKind is the kind of a point as far as its cost goes; 0 for those without a probe.
// Context: start, probe, end, goroutine, writer, jumper, reducer.
func qinstKind(kind string) uint8 {
	switch kind {
	case "proc", "loop":
		return qinstPair
	case "sync", "record":
		return qinstOnce
	case "call", "go":
		return qinstCalls
	}
	return 0
}
