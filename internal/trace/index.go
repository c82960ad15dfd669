package trace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sort"

	"qinst.dev/internal/names"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// indexer is the first pass over a file. It collects tables and the position of each buffer.
type indexer struct {
	t       *Trace
	own     map[string]uint64 // records of the program's kinds
	callees int               // pairs of a point and a function

	span    rawSpan
	code    rawCode
	machine rawMachine
	costs   rawCosts
	counts  rawCounts
	summed  []summed
	levels  rawLevels
	sums    []rawSums
	window  []spec.Attr // arguments of the last "window" command, nil if there is none
}

func newIndexer(t *Trace) *indexer {
	return &indexer{t: t, own: map[string]uint64{}, code: newRawCode(), machine: newRawMachine(),
		costs: rawCosts{took: map[string]rawTook{}}}
}

// rawSpan is the time of a trace, in ticks.
type rawSpan struct {
	first, last uint64
	known       bool
	// readings are the times of clock records. They bound the trace if there is no "end" record.
	// After that record's time only the tool is at work.
	readings []uint64
}

// seen widens the span.
func (s *rawSpan) seen(ticks uint64) {
	if !s.known || ticks < s.first {
		s.first = ticks
	}
	s.last = max(s.last, ticks)
	s.known = true
}

func (ix *indexer) run() error {
	t := ix.t
	for {
		p, err := t.reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var damage *sddf.DamageError
		if errors.As(err, &damage) {
			t.losses.TailBytes += damage.End - damage.Off
			continue
		}
		if err != nil {
			return err
		}
		if err := ix.packet(p); err != nil {
			return err
		}
	}
}

func (ix *indexer) packet(p *sddf.Packet) error {
	switch {
	case p.Kind == spec.Header && !p.Continues:
		return foreignStream(p.Off)
	case p.Kind == spec.Attribute:
		ix.attribute(Attr{p.Name, p.Value})
	case p.Kind == spec.Command && p.Name == spec.CommandWindow:
		ix.window = append([]spec.Attr{}, p.Attrs...) // not nil
	case p.Kind == spec.Descriptor && p.Record.Tag == spec.TagEvents:
		return ix.t.layout.read(p.Record)
	case p.Kind == spec.Data && p.Record != nil && p.Record.Tag >= spec.FirstUserTag:
		ix.own[p.Name]++
	case p.Kind == spec.Data && p.Record != nil:
		if !ix.whole(p) {
			ix.t.losses.TailBytes += p.Len
		} else if !ix.data(&row{p, false}) {
			ix.t.losses.Records++
		}
	}
	return nil
}

// whole reports whether the packed block of a record is as it was written. Of a damaged one an
// earlier record may say the same, or less. Blocks of events are compared when they are read.
func (ix *indexer) whole(p *sddf.Packet) bool {
	if p.Record.Layout == nil || p.Record.Tag == spec.TagEvents {
		return true
	}
	for _, v := range p.Values {
		if b, ok := v.(sddf.Blob); ok {
			var damage *sddf.DamageError
			_, err := ix.t.reader.ReadBlob(nil, b)
			return !errors.As(err, &damage)
		}
	}
	return true
}

// maxFew bounds lists of what a stream has few of, in which a name is searched from the beginning.
const maxFew = 1 << 8

// names is how many things of one kind may have names, so that a file takes memory in proportion to
// its size. A program has far fewer.
func (t *Trace) names() int { return 1<<16 + int(t.File.Size/256) }

// room returns whether one more may have a name, and counts its record if not.
func (t *Trace) room(n int) bool {
	if n < t.names() {
		return true
	}
	t.losses.Records++
	return false
}

// attribute processes a stream attribute. Segments repeat them.
func (ix *indexer) attribute(a Attr) {
	for i := range ix.t.Attrs {
		if ix.t.Attrs[i].Key == a.Key {
			ix.t.Attrs[i] = a
			return
		}
	}
	if len(ix.t.Attrs) == maxFew {
		ix.t.losses.Records++
		return
	}
	ix.t.Attrs = append(ix.t.Attrs, a)
}

// row gives access to a record's values by field name, so that fields may be added or reordered
// in the format. A missing or differently typed field makes the row bad.
type row struct {
	*sddf.Packet
	bad bool
}

func get[T any](r *row, name string) (v T) {
	for i, f := range r.Record.Fields {
		if f.Name == name {
			v, ok := r.Values[i].(T)
			r.bad = r.bad || !ok
			return v
		}
	}
	r.bad = true
	return v
}

// has reports whether the record has a field of that name.
func (r *row) has(name string) bool {
	return slices.ContainsFunc(r.Record.Fields, func(f spec.Field) bool { return f.Name == name })
}

func (r *row) u(name string) uint64    { return get[uint64](r, name) }
func (r *row) i(name string) int64     { return get[int64](r, name) }
func (r *row) s(name string) string    { return get[string](r, name) }
func (r *row) us(name string) []uint64 { return get[[]uint64](r, name) }

// data takes one data packet in and reports whether it made sense.
func (ix *indexer) data(r *row) bool {
	t := ix.t
	switch r.Record.Tag {
	case spec.TagClock:
		c := clockPoint{r.u("ticks"), r.i("monotonic"), r.i("wall"), clockGap}
		if r.has("next") { // files of older programs do not have it
			c.next = int64(min(r.u("next"), math.MaxUint32))
		}
		if !r.bad {
			ix.span.readings = append(ix.span.readings, c.ticks)
			t.clock.points = append(t.clock.points, c)
		}
	case spec.TagProbes:
		return ix.probes(r)
	case spec.TagEvents:
		ix.block(r)
	case spec.TagCallee:
		if probe, name, n := r.u("probe"), t.name(r.s("function")), r.u("hits"); !r.bad && probe < spec.MaxProbes {
			ix.callee(PointID(probe), name, n)
		}
	case spec.TagState:
		if s := snapshotOf(r); !r.bad {
			t.snapshots = append(t.snapshots, s)
		}
	case spec.TagText:
		if n, text := r.u("number"), r.s("text"); !r.bad && t.room(len(t.Texts)) {
			t.Texts[TextID(n)] = text
		}
	case spec.TagReason:
		if code, text := r.u("code"), r.s("text"); !r.bad && t.room(len(t.Reasons)) {
			t.Reasons[ReasonID(code)] = text
		}
	case spec.TagEnd:
		ix.end(r)
	case spec.TagLevel, spec.TagTimes, spec.TagHistogram:
		ix.level(r)
	case spec.TagSums:
		if s := (rawSums{r.u("from"), r.u("to"), get[sddf.Blob](r, "sums")}); !r.bad {
			ix.sums = append(ix.sums, s)
		}
	case spec.TagGoroutine:
		if g, pc := r.u("g"), r.u("pc"); !r.bad && t.room(len(t.starts)) {
			if t.starts == nil {
				t.starts = map[GoID]uint64{}
			}
			t.starts[GoID(g)] = pc
		}
	case spec.TagExtension:
		ix.extension(r)
	case spec.TagFunction, spec.TagStack, spec.TagPath, spec.TagCode, spec.TagFrame:
		ix.code.row(t, r)
	case spec.TagCounts, spec.TagReduced, spec.TagBursts, spec.TagRatios:
		ix.counts.row(t, r)
	case spec.TagOSCPU, spec.TagThrottle, spec.TagMachine, spec.TagSource:
		ix.machine.row(t, r, len(ix.span.readings) > 0)
	default:
		ix.costs.row(t, r)
	}
	return !r.bad
}

// callee adds calls of a function by a point.
func (ix *indexer) callee(p PointID, name string, n uint64) {
	t := ix.t
	if t.Callees == nil {
		t.Callees = map[PointID]map[string]uint64{}
	}
	if t.Callees[p] == nil {
		t.Callees[p] = map[string]uint64{}
	}
	if _, known := t.Callees[p][name]; !known {
		if ix.callees++; !t.room(ix.callees) {
			return
		}
	}
	t.Callees[p][name] += n
}

func (ix *indexer) end(r *row) {
	t := ix.t
	ticks := r.u("ticks")
	t.End = End{true, r.s("reason"), int(r.i("status"))}
	t.losses.Events += int64(r.u("lost"))
	t.losses.Early += int64(r.u("early"))
	t.losses.Overflow += int64(r.u("overflow"))
	if r.has("unnamed") { // not so before there were any
		t.losses.Unnamed += int64(r.u("unnamed"))
	}
	if ticks > 0 {
		t.extent.ends = ticks
		ix.span.seen(ticks)
	}
}

func (ix *indexer) block(r *row) {
	t := ix.t
	blob := get[sddf.Blob](r, "events")
	b := block{Blob: blob, ticks: r.u("ticks"), seq: r.u("seq"),
		g: r.u("g"), tid: uint32(r.u("tid")), p: int32(r.i("p"))}
	th := uint32(r.u("thread"))
	if r.bad || blob.Len > 1<<30 {
		r.bad = true
		return
	}
	ix.span.seen(b.ticks)
	t.blocks[th] = append(t.blocks[th], b)
	t.Blocks++
}

// probes adds the points of one package.
func (ix *indexer) probes(r *row) bool {
	t := ix.t
	base, pkg, strs := r.u("base"), r.s("package"), get[[]string](r, "strings")
	ids, kinds, called := r.us("id"), get[[]string](r, "kind"), r.us("name")
	owners, files, lines, flags := r.us("owner"), r.us("file"), r.us("line"), r.us("flags")
	n := uint64(len(ids))
	ops := make([]uint64, n)
	if r.has("op") { // not so before there were sync points
		ops = r.us("op")
	}
	representatives := make([]uint64, n)
	for i := range representatives {
		representatives[i] = uint64(i)
	}
	if r.has("leader") { // older files have none
		representatives = r.us("leader")
	}
	loops := slices.Clone(representatives)
	for i := range loops {
		loops[i] = uint64(i)
	}
	if r.has("loop") { // likewise
		loops = r.us("loop")
	}
	ends := make([]uint64, n)
	if r.has("end") { // likewise
		ends = r.us("end")
	}
	for _, col := range [][]uint64{called, owners, files, lines, flags, ops, representatives, loops, ends} {
		r.bad = r.bad || uint64(len(col)) != n
	}
	// A point takes more than 8 bytes of the file, so an index beyond that
	// bound is nonsense that would only make the table large.
	if r.bad || uint64(len(kinds)) != n || base+n > min(spec.MaxProbes, uint64(t.File.Size)/8) {
		return false
	}
	for _, col := range [][]uint64{called, files, ops} {
		for _, s := range col {
			if s >= uint64(len(strs)) {
				return false
			}
		}
	}
	if need := int(base + n); need > len(t.Points) {
		t.Points = append(t.Points, make([]Point, need-len(t.Points))...)
	}
	for i := range n {
		owner := PointID(base + min(owners[i], n))
		if owners[i] >= n {
			owner = NoPoint
		}
		t.Dotted.Add(strs[called[i]])
		representative := base + representatives[i]
		if representatives[i] >= n {
			representative = base + i
		}
		loop := NoPoint
		if loops[i] < i { // a loop stands before what is in it
			loop = PointID(base + loops[i])
		}
		t.Points[base+i] = Point{ID: ids[i], Kind: kinds[i], Package: pkg, Name: names.Plain(strs[called[i]]),
			File: strs[files[i]], Line: int(lines[i]), End: int(ends[i]), Flags: uint32(flags[i]), Owner: owner,
			Op: strs[ops[i]], Representative: PointID(representative), Loop: loop}
	}
	return true
}

// finish turns the results of the pass into the trace's tables.
func (ix *indexer) finish() {
	t := ix.t
	ix.code.finish(t)
	if !t.End.Known {
		t.losses.Incomplete = 1
	}
	for _, name := range slices.Sorted(maps.Keys(ix.own)) {
		t.Own = append(t.Own, OwnRecords{name, ix.own[name]})
	}
	ix.unknownPoints()
	ix.timers()
	ix.blocksInOrder()
	ix.readCounts()
	ix.counts.readRest(t)
	ix.lastEvents()
	if t.Attr(AttrFrom) != nil && len(ix.span.readings) > 0 {
		ix.span.first = ix.span.readings[0] // a thread's first block counts from an event before the part
	}
	for i, ticks := range ix.span.readings {
		if i == 0 || !t.End.Known {
			ix.span.seen(ticks)
		}
	}
	ix.times()
	ix.costs.finish(t)
	ix.machine.finish(t)
	ix.levels.finish(t)
	ix.periods()
	ix.estimateSummed()
}

// unknownPoints adds points that no table has, although the indexes of others leave room for
// them. Their events are taken for those of procedures.
func (ix *indexer) unknownPoints() {
	for i := range ix.t.Points {
		if p := &ix.t.Points[i]; p.Kind == "" {
			*p = Point{Kind: spec.PointProc, Name: fmt.Sprintf("unknown point %d", i), Owner: PointID(i),
				Representative: PointID(i), Loop: NoPoint}
		}
	}
}

// blocksInOrder sorts each thread's blocks by number and counts the missing.
func (ix *indexer) blocksInOrder() {
	t := ix.t
	for th, bs := range t.blocks {
		sort.SliceStable(bs, func(i, j int) bool { return bs[i].seq < bs[j].seq })
		kept := bs[:0]
		next := uint64(0)
		if (t.Attr("mode") == "flight" || t.Kept) && len(bs) > 0 {
			next = bs[0].seq // earlier buffers are not kept
		}
		for _, b := range bs {
			if b.seq < next {
				// A buffer that was written before it was full occurs again. It can only grow, so
				// a shorter one must be ignored.
				last := &kept[len(kept)-1]
				if b.Len < last.Len {
					t.losses.Records++
				} else {
					*last = b
				}
				continue
			}
			if missing := b.seq - next; missing < 1<<40 {
				t.losses.Blocks += int64(missing)
			}
			next = b.seq + 1
			kept = append(kept, b)
		}
		t.blocks[th] = kept
	}
}

// lastEvents extends the span to the last event of each thread, which a file
// without an end record has no other sign of.
func (ix *indexer) lastEvents() {
	t := ix.t
	for _, bs := range t.blocks {
		if len(bs) == 0 {
			continue
		}
		c := newCursor(t, bs[len(bs)-1:], new(Losses))
		for c.next() {
			ix.span.seen(c.time)
		}
	}
}

// times converts the times collected in ticks.
func (ix *indexer) times() {
	t := ix.t
	t.losses.Records += t.clock.normalize()
	if len(t.clock.points) < 2 && ix.span.known {
		t.losses.NoClock = 1
	}
	t.clock.start(ix.span.first)
	t.Ran = max(0, t.clock.ns(ix.span.last))
	t.wall = t.Ran
	if len(ix.costs.limits) > 0 {
		// After the limit scheduling is not recorded. The events end there, because otherwise the
		// last states would be taken for those of the rest of the run.
		t.extent.until = ix.costs.limits[0]
		t.wall = max(0, t.clock.ns(t.extent.until))
	}
	if len(t.clock.points) > 0 {
		p := t.clock.points[0]
		t.Began = p.wall - int64(t.clock.ns(p.ticks))
	}
}

// timers names channels of timers and contexts by the procedure that uses them: all have the name
// of package time's or context's field or method.
func (ix *indexer) timers() {
	t := ix.t
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind != spec.PointSync && p.Kind != spec.PointSite || p.Owner < 0 || int(p.Owner) >= len(t.Points) ||
			p.Owner == PointID(i) {
			continue
		}
		if owner := t.Points[p.Owner].Name; t.OfTimer(p.Name) && !t.OfTimer(owner) {
			p.Name += " in " + owner
		}
	}
}
