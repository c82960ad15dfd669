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

// writerThread is the thread number of the file's writer in "oscpu" records.
const writerThread = 1<<32 - 1

// indexer is the first pass over a file. It collects tables and the position of each buffer.
type indexer struct {
	t       *Trace
	fns     map[uint64]Function
	threads map[[2]uint32]Thread // by number and tid
	before  map[[2]uint32]Thread // their times before the trace began
	own     map[string]uint64    // records of the program's kinds
	callees int                  // pairs of a point and a function

	throttled []rawThrottling
	steal     []int64 // readings
	pressure  []int64 // the same
	flushes   []struct{ from, to uint64 }
	took      map[string]rawTook
	given     map[ThreadID][]given
	usageAt   uint64
	limits    []uint64
	metrics   []uint64
	first     uint64 // ticks
	last      uint64
	timed     bool
	// readings are the times of clock records. They bound the trace if there is no "end" record.
	// After that record's time only the tool is at work.
	readings []uint64
	counts   sddf.Blob
	earlier  sddf.Blob // the same, ahead of all events
	reduced  sddf.Blob // of no length if there is none
	bursts   sddf.Blob // the same
	summed   []summed
	levels   rawLevels
	sums     []rawSums
	window   []spec.Attr // arguments of the last "window" command, nil if there is none

	stacks []rawStack
	paths  []rawNodes
	codes  []rawNodes
	frames map[uint64][]Frame // by return address, innermost first
}

// rawStack is a stack as it is recorded.
type rawStack struct {
	number uint64
	pcs    []uint64
}

// rawTook is what events of one kind took that timed themselves, in ticks.
type rawTook struct {
	n, sum  uint64
	squares float64
}

// rawNodes are paths, or codes, with numbers from first on.
type rawNodes struct {
	first uint64
	nodes sddf.Blob
}

// maxNodes is far above the number that a program has room for.
const maxNodes = 1 << 20

// maxDepth bounds the calls that lead to a code.
const maxDepth = 1 << 10

// pathTable reads the paths. Each is to come from one with a smaller number.
func (ix *indexer) pathTable() {
	t := ix.t
	for _, r := range ix.paths {
		number := r.first - 1
		t.entries(&spec.Paths, r.nodes, func(v []uint64) {
			number++
			if number >= maxNodes || v[0] >= number || v[1] >= uint64(len(t.Points)) {
				t.losses.Records++
				return
			}
			for uint64(len(t.Paths)) <= number {
				t.Paths = append(t.Paths, Path{Point: NoPoint})
			}
			t.Paths[number] = Path{PathID(v[0]), PointID(v[1]), v[2] != 0}
		})
	}
}

// codeTable reads the codes. Each is to come from one with a smaller number.
func (ix *indexer) codeTable() {
	t := ix.t
	var depths []uint16 // a program's stacks are cut far below the bound
	for _, r := range ix.codes {
		number := r.first - 1
		t.entries(&spec.Codes, r.nodes, func(v []uint64) {
			number++
			if number >= maxNodes || v[0] >= number || v[0] < uint64(len(depths)) && depths[v[0]] >= maxDepth {
				t.losses.Records++
				return
			}
			for uint64(len(t.Codes)) <= number {
				t.Codes, depths = append(t.Codes, Code{}), append(depths, 0)
			}
			depths[number] = depths[v[0]] + 1
			t.Codes[number] = Code{CodeID(v[0]), ix.fns[v[2]].Name, int(v[1])}
		})
	}
}

// maxStacks is the largest number that fits an event's field.
const maxStacks = 1 << (64 - spec.AddressBits)

// stackTable resolves the stacks; number 0 is left empty.
func (ix *indexer) stackTable() {
	for _, s := range ix.stacks {
		for uint64(len(ix.t.Stacks)) <= s.number {
			ix.t.Stacks = append(ix.t.Stacks, nil)
		}
		var st Stack
		for _, pc := range s.pcs {
			st = append(st, ix.frames[pc]...)
		}
		ix.t.Stacks[s.number] = st
	}
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
		return ix.t.checkLayout(p.Record)
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
func (t *Trace) names() int { return 1<<16 + int(t.Size/256) }

// room returns whether one more may have a name, and counts its record if not.
func (ix *indexer) room(n int) bool {
	if n < ix.t.names() {
		return true
	}
	ix.t.losses.Records++
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
			ix.readings = append(ix.readings, c.ticks)
			t.clock.points = append(t.clock.points, c)
		}
	case spec.TagProbes:
		return ix.probes(r)
	case spec.TagEvents:
		ix.block(r)
	case spec.TagCounts:
		if b := get[sddf.Blob](r, "counts"); !r.bad {
			ix.counts, t.HasCounts = b, true
			if t.Kept && len(t.blocks) == 0 {
				ix.earlier, t.counted = b, true
			}
		}
	case spec.TagFunction:
		f := Function{r.u("pc"), t.name(r.s("name")), r.s("file"), int(r.u("line"))}
		if !r.bad && ix.room(len(ix.fns)) {
			ix.fns[f.PC] = f
		}
	case spec.TagStack:
		if n, pcs := r.u("number"), r.us("pc"); !r.bad && n < maxStacks && ix.room(len(ix.stacks)) {
			ix.stacks = append(ix.stacks, rawStack{n, pcs})
		}
	case spec.TagPath:
		if first, b := r.u("first"), get[sddf.Blob](r, "paths"); !r.bad && first > 0 {
			ix.paths = append(ix.paths, rawNodes{first, b})
		}
	case spec.TagCode:
		if first, b := r.u("first"), get[sddf.Blob](r, "codes"); !r.bad && first > 0 {
			ix.codes = append(ix.codes, rawNodes{first, b})
		}
	case spec.TagCallee:
		if probe, name, n := r.u("probe"), t.name(r.s("function")), r.u("hits"); !r.bad && probe < spec.MaxProbes {
			ix.callee(PointID(probe), name, n)
		}
	case spec.TagState:
		if s := snapshotOf(r); !r.bad {
			t.snapshots = append(t.snapshots, s)
		}
	case spec.TagText:
		if n, text := r.u("number"), r.s("text"); !r.bad && ix.room(len(t.Texts)) {
			t.Texts[TextID(n)] = text
		}
	case spec.TagFrame:
		pc, level := r.u("pc"), r.u("level")
		f := Frame{names.Procedure(t.name(r.s("function"))), r.s("file"), int(r.u("line"))}
		if list := ix.frames[pc]; !r.bad && level == uint64(len(list)) && ix.room(len(ix.frames)) {
			ix.frames[pc] = append(list, f)
		}
	case spec.TagReason:
		if code, text := r.u("code"), r.s("text"); !r.bad && ix.room(len(t.Reasons)) {
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
	case spec.TagReduced:
		if b := get[sddf.Blob](r, "reduced"); !r.bad {
			ix.reduced = b
		}
	case spec.TagBursts:
		if b := get[sddf.Blob](r, "found"); !r.bad {
			ix.bursts = b
		}
	case spec.TagGoroutine:
		if g, pc := r.u("g"), r.u("pc"); !r.bad && ix.room(len(t.starts)) {
			if t.starts == nil {
				t.starts = map[GoID]uint64{}
			}
			t.starts[GoID(g)] = pc
		}
	case spec.TagExtension:
		ix.extension(r)
	default:
		ix.cost(r)
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
		if ix.callees++; !ix.room(ix.callees) {
			return
		}
	}
	t.Callees[p][name] += n
}

// cost processes the records about the cost of the run and of its observation.
func (ix *indexer) cost(r *row) {
	t := ix.t
	switch r.Record.Tag {
	case spec.TagFlush:
		from, to, bytes, cpu := r.u("from"), r.u("to"), r.u("bytes"), r.u("cpu")
		if !r.bad {
			t.Flush.Runs++
			t.Flush.Bytes += int64(bytes)
			t.Flush.CPU += int64(cpu)
			ix.flushes = append(ix.flushes, struct{ from, to uint64 }{from, to})
		}
	case spec.TagOSCPU:
		th, tid := uint32(r.u("thread")), uint32(r.u("tid"))
		run, wait := r.u("run"), r.u("wait")
		if !r.bad && ix.room(len(ix.threads)) {
			ix.thread(Thread{th, tid, int64(run), int64(wait), th == writerThread}, r.u("ticks"))
		}
	case spec.TagThrottle:
		if v := (rawThrottling{r.u("ticks"), int64(r.u("throttled")), 0}); !r.bad {
			if r.has("group") { // not so in older files
				v.group = r.u("group")
			}
			ix.throttled = append(ix.throttled, v)
		}
	case spec.TagMachine:
		if v := r.i("steal"); !r.bad && v >= 0 {
			ix.steal = append(ix.steal, v)
		}
		if v := r.i("pressure"); !r.bad && v >= 0 {
			ix.pressure = append(ix.pressure, v)
		}
	case spec.TagSource:
		name, s := r.s("name"), OSSource{Errno: uint32(r.u("errno")), Time: Time(r.u("ticks")), Lost: r.u("lost")}
		if r.has("from") { // files of older programs do not have it
			s.From = Time(r.u("from"))
		}
		if !r.bad && len(t.Sources) < maxFew {
			if name == SourceSwitches {
				t.tell(s)
			}
			t.Sources[name] = s // its times are in ticks until all is read
		}
	case spec.TagProcess:
		ix.usageAt = r.u("ticks")
		t.Usage = Usage{!r.bad, 0, int64(r.u("user")), int64(r.u("system")), int64(r.u("maxrss")), -1, 0, 0, 0, 0, 0}
		if r.has("collector") { // files of older programs do not have it
			t.Usage.Collector = int64(r.u("collector"))
		}
		if r.has("looks") { // likewise
			t.Usage.Looks = int64(r.u("looks"))
		}
		if r.has("ended") { // likewise
			t.Usage.Ended, t.Usage.Faults = int64(r.u("ended")), int64(r.u("faults"))
		}
		if r.has("calls") { // likewise
			t.Usage.Calls, t.Usage.Called = int64(r.u("calls")), int64(r.u("called")) // in ticks until all is read
		}
	case spec.TagMemory:
		t.Memory = Memory{!r.bad, int64(r.u("limit")), int64(r.u("events")), int64(r.u("counts")), int64(r.u("stacks")),
			int64(r.u("tables")),
			r.u("pageless"), r.u("stackless"), r.u("unlisted"), 0, 0}
		if r.has("unowned") { // files of older programs have no ledgers
			t.Memory.Unowned, t.Memory.Ringless = r.u("unowned"), r.u("ringless")
		}
	case spec.TagPrice:
		kind, n, took, squares := r.s("kind"), r.u("n"), r.u("took"), get[float64](r, "squares")
		if r.bad = r.bad || n == 0 || len(ix.took) >= maxFew || !(squares >= 0); !r.bad {
			ix.took[kind] = rawTook{n, took, squares}
		}
	case spec.TagMetrics:
		ticks, m := r.u("ticks"), Metric{0, int64(r.u("heap")), int64(r.u("goal")), int64(r.u("cycles"))}
		if !r.bad {
			ix.metrics = append(ix.metrics, ticks)
			t.Metrics = append(t.Metrics, m)
		}
	case spec.TagLimit:
		ix.limits = append(ix.limits, r.u("ticks"))
		t.Limits = append(t.Limits, Limit{0, int64(r.u("bytes")), r.s("reason")})
	}
}

// thread processes a reading of a thread's times. A reading from before the first clock record is
// the time that the thread had used when the trace began; the operating system needs some for its
// start.
func (ix *indexer) thread(th Thread, at uint64) {
	if !th.Writer {
		ix.given[ThreadID(th.ID)] = append(ix.given[ThreadID(th.ID)], given{at, th.Run, th.Wait})
	}
	key := [2]uint32{th.ID, th.TID}
	if len(ix.readings) == 0 {
		ix.t.Before += th.Run - ix.before[key].Run
		ix.before[key] = th
	}
	th.Run -= ix.before[key].Run
	th.Wait -= ix.before[key].Wait
	ix.threads[key] = th
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
		t.endTicks = ticks
		ix.seen(ticks)
	}
}

// seen widens the trace's time span.
func (ix *indexer) seen(ticks uint64) {
	if !ix.timed || ticks < ix.first {
		ix.first = ticks
	}
	ix.last = max(ix.last, ticks)
	ix.timed = true
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
	ix.seen(b.ticks)
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
	if r.bad || uint64(len(kinds)) != n || base+n > min(spec.MaxProbes, uint64(t.Size)/8) {
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

// nameLiterals gives function literals that stand in several places their names in the source.
func (ix *indexer) nameLiterals() {
	l := literalsOf(&ix.t.tables)
	for pc, f := range ix.fns {
		f.Name = l.source(f.Name, f.File, f.Line)
		ix.fns[pc] = f
	}
	for _, list := range ix.frames {
		for i := range list {
			f := &list[i]
			f.Function = l.source(f.Function, f.File, f.Line)
		}
	}
}

// finish turns the results of the pass into the trace's tables.
func (ix *indexer) finish() {
	t := ix.t
	ix.nameLiterals()
	for _, f := range ix.fns {
		t.Functions = append(t.Functions, f)
	}
	sort.Slice(t.Functions, func(i, j int) bool { return t.Functions[i].PC < t.Functions[j].PC })
	for _, th := range ix.threads {
		t.Threads = append(t.Threads, th)
	}
	sort.Slice(t.Threads, func(i, j int) bool {
		a, b := t.Threads[i], t.Threads[j]
		return a.ID < b.ID || a.ID == b.ID && a.TID < b.TID
	})
	if !t.End.Known {
		t.losses.Incomplete = 1
	}
	for _, name := range slices.Sorted(maps.Keys(ix.own)) {
		t.Own = append(t.Own, OwnRecords{name, ix.own[name]})
	}
	ix.unknownPoints()
	ix.timers()
	ix.stackTable()
	ix.pathTable()
	ix.codeTable()
	ix.blocksInOrder()
	ix.readCounts()
	ix.readBursts()
	t.entries(&spec.Reduced, ix.reduced, func(v []uint64) {
		if v[0] < uint64(len(t.Points)) {
			t.Points[v[0]].Reduced = v[1]
		}
	})
	ix.lastEvents()
	if t.Attr(AttrFrom) != nil && len(ix.readings) > 0 {
		ix.first = ix.readings[0] // a thread's first block counts from an event before the part
	}
	for i, ticks := range ix.readings {
		if i == 0 || !t.End.Known {
			ix.seen(ticks)
		}
	}
	ix.times()
	ix.machine()
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

// eachCount calls f with the entries of a "counts" record.
func (ix *indexer) eachCount(counts sddf.Blob, f func(p *Point, hits, traced uint64)) {
	t := ix.t
	buf, err := t.reader.ReadBlob(nil, counts)
	if err == nil {
		err = sddf.Entries(&spec.Counts, buf, 0, func(e *sddf.Entry) error {
			if probe := e.Values[0]; probe < uint64(len(t.Points)) {
				f(&t.Points[probe], e.Values[1], e.Values[2])
			} else {
				t.losses.UnknownPoint++
			}
			return nil
		})
	}
	if err != nil {
		t.losses.Records++
	}
}

// readCounts takes the exact totals of the last "counts" record. Where only the last events are
// kept these are of the whole run, and the record ahead of the events reports how much of them was
// before.
func (ix *indexer) readCounts() {
	t := ix.t
	if !t.HasCounts {
		return
	}
	ix.eachCount(ix.counts, func(p *Point, hits, traced uint64) { p.Hits, p.Traced = hits, traced })
	if t.counted {
		ix.eachCount(ix.earlier, func(p *Point, hits, traced uint64) {
			p.Hits, p.Traced = p.Hits-min(hits, p.Hits), p.Traced-min(traced, p.Traced)
		})
	}
	ix.sumCalls()
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointCall || p.Kind == spec.PointGo {
			p.Hits = t.Points[p.Representative].Hits
		}
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
			ix.seen(c.time)
		}
	}
}

// given is a reading of what the operating system gave a thread, in ns.
type given struct {
	ticks     uint64
	run, wait int64
}

// machine processes the readings of what happened beside the program. The first ones are from
// before the trace.
func (ix *indexer) machine() {
	t := ix.t
	for _, r := range ix.throttled {
		t.throttlings = append(t.throttlings, throttling{r, t.clock.ns(r.ticks)})
	}
	if n := len(t.throttlings); n > 0 {
		t.Throttled = t.throttled(t.throttlings[0].time, t.throttlings[n-1].time)
	}
	for name, s := range t.Sources {
		s.Time = t.clock.ns(uint64(s.Time))
		if s.From != 0 {
			s.From = t.clock.ns(uint64(s.From))
		}
		t.Sources[name] = s
	}
	for i := range t.Watched {
		w := &t.Watched[i]
		if w.Until = t.clock.ns(uint64(w.Until)); w.From != 0 {
			w.From = t.clock.ns(uint64(w.From))
		}
	}
	t.Steal, t.Pressure = risen(ix.steal), risen(ix.pressure)
}

// risen is the difference of the first and the last reading of a total, -1 if there is none.
func risen(readings []int64) int64 {
	if len(readings) == 0 {
		return -1
	}
	return readings[len(readings)-1] - readings[0]
}

// times converts the times collected in ticks.
func (ix *indexer) times() {
	t := ix.t
	t.losses.Records += t.clock.normalize()
	if len(t.clock.points) < 2 && ix.timed {
		t.losses.NoClock = 1
	}
	t.clock.start(ix.first)
	t.Ran = max(0, t.clock.ns(ix.last))
	t.wall = t.Ran
	if len(ix.limits) > 0 {
		// After the limit scheduling is not recorded. The events end there, because otherwise the
		// last states would be taken for those of the rest of the run.
		t.until = ix.limits[0]
		t.wall = max(0, t.clock.ns(t.until))
	}
	t.Usage.Time = t.clock.ns(ix.usageAt)
	t.Usage.Called = int64(float64(t.Usage.Called) * t.clock.tick())
	for i, ticks := range ix.limits {
		t.Limits[i].Time = t.clock.ns(ticks)
	}
	for i, ticks := range ix.metrics {
		t.Metrics[i].Time = t.clock.ns(ticks)
	}
	t.Given = map[ThreadID][]Given{}
	for id, list := range ix.given {
		for _, g := range list {
			t.Given[id] = append(t.Given[id], Given{t.clock.ns(g.ticks), g.run, g.wait})
		}
	}
	for kind, x := range ix.took {
		tick := t.clock.tick()
		mean := float64(x.sum) / float64(x.n)
		t.Took[kind] = Took{x.n, mean * tick, math.Sqrt(max(0, x.squares/float64(x.n)-mean*mean)) * tick}
	}
	for _, f := range ix.flushes {
		t.Flush.Wall += int64(max(0, t.clock.ns(f.to)-t.clock.ns(f.from)))
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
