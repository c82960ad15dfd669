package extensions

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Use adds an extension after the existing ones. It is shown events of the given kinds from now
// on. Its name appears in reports. In a program that is not observed, or whose run records no
// events, Use does nothing.
func Use(name string, kinds Kinds, e Extension) {
	if !observed {
		return
	}
	coming.Lock()
	defer coming.Unlock()
	coming.list = append(coming.list, arrival{name, kinds, e})
	if !coming.begun {
		coming.begun = true
		l := &live{p: newPipeline(nil), began: time.Now()}
		l.p.sink = l
		startReducer(l.loop)
	}
}

type arrival struct {
	name  string
	kinds Kinds
	ext   Extension
}

// coming are extensions that the reducer has not seen yet.
var coming struct {
	sync.Mutex
	list  []arrival
	begun bool
}

func init() {
	names := askedFor()
	if !observed || names == "" {
		return
	}
	for _, name := range strings.Split(names, "+") {
		s, e, err := Find(name)
		if err != nil {
			say(err.Error())
			continue
		}
		Use(name, s.Kinds, e)
	}
}

// live is the sink in an observed program: the tool's writer.
type live struct {
	p       *pipeline
	began   time.Time
	from    uint64 // ticks when the clocks were first read, that of the program after fromNs
	fromNs  time.Duration
	perTick float64 // ns

	packets  [2][]byte // those being gathered, and those being written
	gathered sddf.Segment
	parts    []part
	free     []*block
	flushed  time.Duration
}

// head is the head of an event buffer, as the runtime has it.
type head struct {
	next, bytes, num, tid uint32
	seq, ticks, g         uint64
	proc                  int32
}

const (
	chunkSize = 32 << 10
	headSize  = 64 // of it
	flushNs   = time.Second
	mostBytes = 1 << 20 // of packets that wait for the writer
)

// loop is the body of the reducer's goroutine.
func (l *live) loop() {
	defer func() {
		if v := recover(); v != nil {
			say(fmt.Sprint("extensions: internal error, they are not called any more: ", v))
			leave()
			for {
				waitForWork(0)
			}
		}
	}()
	for worked := time.Duration(0); ; {
		all, last := waitForWork(uint64(worked))
		start := time.Now()
		l.round(all, last)
		worked = time.Since(start)
	}
}

// round processes the events recorded until now.
func (l *live) round(all, last bool) {
	l.arrivals()
	limit := beginRound()
	l.setClock(limit)
	for {
		chunk, bytes, full := takeChunk()
		if chunk == nil {
			break
		}
		l.add(chunk, bytes, full)
	}
	l.p.run(limit)
	if now := time.Since(l.began); all || now-l.flushed >= flushNs {
		l.flushed = now
		l.p.flush(last)
	}
	l.givePackets(all)
	if all {
		l.giveParts()
		answer()
	}
}

func (l *live) arrivals() {
	coming.Lock()
	defer coming.Unlock()
	for _, a := range coming.list {
		l.p.use(a.name, a.kinds, a.ext)
	}
	coming.list = nil
}

// setClock relates the clocks: the longer the program runs, the better.
func (l *live) setClock(ticks uint64) {
	ns := time.Since(l.began)
	if l.from == 0 {
		l.from, l.fromNs = ticks, ns
	}
	if ticks > l.from && ns > l.fromNs {
		l.perTick = float64(ns-l.fromNs) / float64(ticks-l.from)
	}
}

// add adds an event buffer, or the new part of one that has grown.
func (l *live) add(chunk unsafe.Pointer, bytes uint32, full bool) {
	h := (*head)(chunk)
	s, isNew := l.p.stream(h.num)
	if isNew {
		s.next = h.seq
	}
	words := unsafe.Slice((*uint64)(unsafe.Add(chunk, headSize)), (chunkSize-headSize)/8)[:bytes/8]
	if n := len(s.blocks); n > 0 && s.blocks[n-1].chunk == chunk && !s.blocks[n-1].full {
		b := s.blocks[n-1]
		b.words, b.full = words, full
		return
	}
	if h.seq < s.next {
		return // it was full already
	}
	s.next = h.seq + 1
	b := &block{}
	if n := len(l.free); n > 0 {
		b, l.free = l.free[n-1], l.free[:n-1]
		clear(b.dropped)
	}
	*b = block{num: h.num, tid: h.tid, seq: h.seq, ticks: h.ticks, g: h.g, proc: h.proc, words: words, full: full,
		chunk:   chunk,
		dropped: b.dropped, rewritten: b.rewritten[:0]}
	s.blocks = append(s.blocks, b)
}

func (l *live) drop(point uint32) { *dropped(point)++ }

func (l *live) change(b *block) bool { return changeChunk(b.chunk) }

func (l *live) write(b *block) {
	giveChunk(b.chunk, uint32(8*len(b.words)))
	l.free = append(l.free, b)
}

func (l *live) packet(b []byte) {
	n := len(l.packets[0])
	b, err := sddf.AppendSums(append(l.packets[0], b...), n)
	if err != nil {
		say("extensions: found a record that is not a packet; it is left out")
		return
	}
	l.packets[0] = b
	l.gathered.Add(b)
	if len(l.packets[0]) > mostBytes {
		l.givePackets(true)
	}
}

// givePackets hands the gathered packets to the writer. With must it waits until the writer takes
// them.
func (l *live) givePackets(must bool) {
	if len(l.packets[0]) == 0 {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(l.packets[0]))
	for !givePackets(p, uintptr(len(l.packets[0])), l.gathered.Packets, l.gathered.Sum) {
		if !must {
			return
		}
		runtime.Gosched()
		time.Sleep(100 * time.Microsecond)
	}
	l.packets[0], l.packets[1], l.gathered = l.packets[1][:0], l.packets[0], sddf.Segment{}
}

// part is the part of a buffer still in use that must be written, as the runtime has it.
type part struct {
	head  head
	words *uint64
	bytes uintptr
}

// giveParts hands over the processed parts of buffers that have not been read to their end.
func (l *live) giveParts() {
	if !giveParts(nil, 0) {
		return
	}
	l.parts = l.parts[:0]
	for _, s := range l.p.threads {
		if len(s.blocks) == 0 || !s.begun || s.pos == 0 {
			continue
		}
		b := s.blocks[0]
		words := append([]uint64(nil), b.words[:s.pos]...)
		if b.drops {
			words = b.compact(words, l)
			b.counted = s.pos
		}
		l.parts = append(l.parts, part{*(*head)(b.chunk), unsafe.SliceData(words), uintptr(8 * len(words))})
	}
	giveParts(unsafe.Pointer(unsafe.SliceData(l.parts)), uint32(len(l.parts)))
}

func (l *live) define(*spec.Record) uint32     { return 0 } // the runtime had no room for the kind
func (l *live) record(tag uint32) *spec.Record { return sddf.Announced(tag) }
func (l *live) ns(ticks uint64) int64          { return int64(float64(ticks) * l.perTick) }
func (l *live) say(line string)                { say(line) }
func (l *live) table(i int) ([]Point, uint32, bool) {
	text, base, ok := table(i)
	if !ok {
		return nil, 0, false
	}
	return pointsOf(text), base, true
}

func (l *live) function(pc uint64) string {
	if f := runtime.FuncForPC(uintptr(pc)); f != nil {
		return f.Name()
	}
	return ""
}
