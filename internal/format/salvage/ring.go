package salvage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// ringPrefix begins the base name of every ring; the rest is the program's process id.
const ringPrefix = "qinst."

// ring is the memory of a program's threads; see [spec.RingMagic].
type ring struct {
	path  string
	file  *os.File
	data  io.ReaderAt // what is in it: the file, or a copy of one that a program still writes
	size  uint64
	owner int
	head  [spec.RingWords]uint64
}

// openRegular opens a file whose path comes from a trace, or from a directory that everybody may
// write to. A pipe there would hang the reader until something is written, and opening a device
// may have any effect. So only a regular file may be opened, and the call must not wait, because
// a pipe may take the file's place in between.
func openRegular(path string) (f *os.File, size int64, err error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: found %v, expected a regular file", path, st.Mode())
	}
	if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, 0, err
	}
	if st, err = f.Stat(); err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: found %v, expected a regular file", path, st.Mode())
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// openRing opens a ring.
func openRing(path string) (*ring, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	r := &ring{path: path, file: f, data: f}
	if err := r.readHead(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *ring) readHead() error {
	st, err := r.file.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("found %v, expected a regular file", st.Mode())
	}
	r.size = uint64(st.Size())
	r.owner = ownerOf(st)
	var page [8 * spec.RingWords]byte
	if _, err := r.data.ReadAt(page[:], 0); err != nil {
		return err
	}
	for i := range r.head {
		r.head[i] = binary.LittleEndian.Uint64(page[8*i:])
	}
	h := &r.head
	if h[spec.RingWordMagic] != spec.RingMagic || h[spec.RingWordVersion] != spec.RingVersion {
		return fmt.Errorf("found magic %#x and version %d, expected a ring of version %d", h[spec.RingWordMagic],
			h[spec.RingWordVersion], spec.RingVersion)
	}
	const most = 1 << 40
	for i := spec.RingWordChunkAt; i <= spec.RingWordLog; i++ {
		if h[i] > most {
			return fmt.Errorf("word %d of the ring is %d", i, h[i])
		}
	}
	if h[spec.RingWordLedgerAt] > most || h[spec.RingWordLedgerSize] > 1<<30 || h[spec.RingWordLedgers] > 1<<20 {
		return fmt.Errorf("%d ledgers of %d bytes at %d", h[spec.RingWordLedgers], h[spec.RingWordLedgerSize],
			h[spec.RingWordLedgerAt])
	}
	if h[spec.RingWordChunkSize] < h[spec.RingWordChunkHead] || h[spec.RingWordChunkSize] > 1<<24 ||
		h[spec.RingWordPoints] > spec.MaxProbes ||
		h[spec.RingWordPageSize]%16 != 0 || h[spec.RingWordPageSize] > 1<<20 || h[spec.RingWordPages] > 1<<20 ||
		h[spec.RingWordBlocks] > 1<<20 || h[spec.RingWordChunks] > 1<<24 {
		return fmt.Errorf("chunks of %d bytes, %d points, %d pages of %d bytes", h[spec.RingWordChunkSize],
			h[spec.RingWordPoints], h[spec.RingWordPages], h[spec.RingWordPageSize])
	}
	return nil
}

// alive reports whether a process has the ring in its memory. A program locks its ring, and the
// system removes the lock with the last mapping. That holds for programs that this process cannot
// see, too: in other containers, of other users.
func (r *ring) alive() bool { return locked(r.file) }

func (r *ring) word(off uint64) uint64 {
	var b [8]byte
	if _, err := r.data.ReadAt(b[:], int64(off)); err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

// blockKey is a block of events: the number of its thread and its own.
type blockKey struct {
	thread uint32
	seq    uint64
}

func (a blockKey) compare(b blockKey) int {
	return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.seq, b.seq))
}

// chunk is an event buffer in the ring.
type chunk struct {
	key      blockKey
	tid      uint32
	bytes    uint32
	at       int64 // of its events
	ticks, g uint64
	proc     int32
}

// chunks returns the buffers with events: full ones, and those that threads were filling.
func (r *ring) chunks() (map[blockKey]chunk, error) {
	h := &r.head
	filling := map[uint64]uint64{} // buffer's address: bytes of events in it
	for i := range h[spec.RingWordBlocks] {
		at := h[spec.RingWordBlockAt] + i*h[spec.RingWordBlockSize]
		if at >= r.size {
			break
		}
		p, c := r.word(at+h[spec.RingWordBlockP]), r.word(at+h[spec.RingWordBlockChunk])
		if events := c + h[spec.RingWordChunkHead]; c != 0 && p > events && p <= c+h[spec.RingWordChunkSize] {
			filling[c] = p - events
		}
	}
	found := map[blockKey]chunk{}
	head := make([]byte, h[spec.RingWordChunkHead])
	for i := range h[spec.RingWordChunks] {
		at := h[spec.RingWordChunkAt] + i*h[spec.RingWordChunkSize]
		if at+h[spec.RingWordChunkSize] > r.size {
			break
		}
		if _, err := r.data.ReadAt(head, int64(at)); err != nil {
			return nil, fmt.Errorf("%s: %w", r.path, err)
		}
		u32 := func(word int) uint32 { return uint32(field(head, h[word], 4)) }
		n := uint64(u32(spec.RingWordChunkBytes))
		if n == 0 {
			n = filling[h[spec.RingWordChunkBase]+i*h[spec.RingWordChunkSize]]
		}
		if n == 0 || n%8 != 0 || n > h[spec.RingWordChunkSize]-h[spec.RingWordChunkHead] {
			continue
		}
		c := chunk{
			key: blockKey{u32(spec.RingWordChunkNum), field(head, h[spec.RingWordChunkSeq], 8)},
			tid: u32(spec.RingWordChunkTID), bytes: uint32(n), at: int64(at + h[spec.RingWordChunkHead]),
			ticks: field(head, h[spec.RingWordChunkTicks], 8), g: field(head, h[spec.RingWordChunkG], 8),
			proc: int32(u32(spec.RingWordChunkProc)),
		}
		if old, ok := found[c.key]; !ok || old.bytes < c.bytes {
			found[c.key] = c
		}
	}
	return found, nil
}

// field is a little-endian number of n bytes, 0 outside of b.
func field(b []byte, off uint64, n int) (v uint64) {
	for i := range n {
		if k := off + uint64(i); k < uint64(len(b)) {
			v |= uint64(b[k]) << (8 * i)
		}
	}
	return v
}

// packetHead is an "events" record without the events' bytes, which follow.
func (c *chunk) packetHead() ([]byte, error) {
	fields := spec.Records[spec.TagEvents-1].Fields
	n := len(fields)
	b, err := sddf.AppendValues(sddf.AppendPacketHead(nil, spec.TagEvents, n), fields[:n-1], c.key.thread, c.tid,
		c.key.seq, c.ticks, c.g, c.proc)
	b = append(b, 0xc6)
	return binary.BigEndian.AppendUint32(b, c.bytes), err
}

// clocks are the last readings of the clocks, the later one last, and its ticks.
func (r *ring) clocks() (list [][]any, ticks uint64) {
	h := &r.head
	turn := h[spec.RingWordTurn]
	for i := turn - min(turn, 2); i < turn; i++ {
		at := spec.RingWordClock + 3*(i%2)
		list = append(list, []any{h[at], int64(h[at+1]), int64(h[at+2]), uint64(0)})
		ticks = h[at]
	}
	return list, ticks
}

// end is why a program ended that did not finish its file, "" if it did not come so far as to say
// it.
func (r *ring) end() (why string, status int, at uint64) {
	word := r.head[spec.RingWordEnd]
	if n := word >> 32; n > 0 && n <= uint64(len(spec.EndReasons)) {
		why = spec.EndReasons[n-1]
	}
	return why, int(int32(word)), r.head[spec.RingWordEndAt]
}

type lost struct{ events, deep uint64 }

// total is what all threads counted of one point.
type total struct {
	hits, traced uint64
	dropped      uint64 // events, by extensions
	inLine       uint64 // of the hits
}

// lost sums up what found no room.
func (r *ring) lost() (l lost) {
	h := &r.head
	l.events = h[spec.RingWordNoBlock]
	for i := uint64(1); i < h[spec.RingWordBlocks]; i++ { // the first is of threads that have none
		at := h[spec.RingWordBlockAt] + i*h[spec.RingWordBlockSize]
		if at >= r.size {
			break
		}
		l.events += r.word(at + h[spec.RingWordBlockLost])
		l.deep += r.word(at + h[spec.RingWordBlockDeep])
	}
	return l
}

// packCounts packs the fields of a "counts" record, and of a "reduced" one.
func packCounts(totals []total) (packed, reduced []byte, points int) {
	for k, t := range totals {
		if t.hits == 0 {
			continue
		}
		points++
		for _, w := range []uint64{uint64(k), t.hits, t.traced} {
			packed = binary.LittleEndian.AppendUint64(packed, w)
		}
		if t.dropped != 0 {
			reduced = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(reduced, uint64(k)), t.dropped)
		}
	}
	return packed, reduced, points
}

// totals sums up the counters of all threads, by point.
func (r *ring) totals() ([]total, error) {
	h := &r.head
	totals := make([]total, h[spec.RingWordPoints])
	directory := make([]byte, 4*h[spec.RingWordPages])
	if _, err := r.data.ReadAt(directory, int64(h[spec.RingWordDirectoryAt])); err != nil {
		return nil, fmt.Errorf("%s: directory of counts: %w", r.path, err)
	}
	page := make([]byte, h[spec.RingWordPageSize])
	for i := range h[spec.RingWordPages] {
		number := binary.LittleEndian.Uint32(directory[4*i:])
		if number == 0 {
			continue
		}
		if _, err := r.data.ReadAt(page, int64(h[spec.RingWordPageAt]+i*uint64(len(page)))); err != nil {
			return nil, fmt.Errorf("%s: counts of page %d: %w", r.path, i, err)
		}
		first := uint64(number&^spec.RingSharedPage-1) * uint64(len(page)/16)
		for k := 0; k < len(page) && first < uint64(len(totals)); k += 16 {
			t := &totals[first]
			first++
			t.hits += binary.LittleEndian.Uint64(page[k:])
			if number&spec.RingSharedPage != 0 {
				t.dropped = binary.LittleEndian.Uint64(page[k+8:])
			} else {
				t.traced += uint64(binary.LittleEndian.Uint32(page[k+8:]))
			}
		}
	}
	return totals, r.addLedgers(totals)
}

// addLedgers adds the hits that were counted in line. The file may end within a ledger, and need
// not have it at all: the program had no room for the rest.
func (r *ring) addLedgers(totals []total) error {
	h := &r.head
	slots := make([]byte, min(uint64(len(totals))*8, h[spec.RingWordLedgerSize]))
	for i := uint64(1); i < h[spec.RingWordLedgers]; i++ {
		at := h[spec.RingWordLedgerAt] + i*h[spec.RingWordLedgerSize]
		if at >= r.size {
			break
		}
		n, err := r.data.ReadAt(slots, int64(at))
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: ledger %d: %w", r.path, i, err)
		}
		for k := 0; k+8 <= n; k += 8 {
			hits := binary.LittleEndian.Uint64(slots[k:])
			totals[k/8].hits += hits
			totals[k/8].inLine += hits
		}
	}
	return nil
}

// Left returns the rings in a directory whose programs are gone, as far as this user may read them.
func Left(dir string) (paths []string) {
	list, _ := os.ReadDir(dir) // what cannot be read holds none of ours
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), ringPrefix) {
			continue
		}
		r, err := openRing(path)
		if err != nil {
			continue // another's, or not ready yet
		}
		if !r.alive() {
			paths = append(paths, path)
		}
		_ = r.file.Close()
	}
	return paths
}

// Remove removes a ring, unless its program still runs.
func Remove(path string) error {
	r, err := openRing(path)
	if err != nil {
		return err
	}
	defer func() { _ = r.file.Close() }()
	if r.alive() {
		return fmt.Errorf("%s: found that process %d still runs, expected the ring of one that is gone", path,
			r.head[spec.RingWordPID])
	}
	if r.owner != os.Geteuid() {
		return fmt.Errorf("%s: found a ring of user %d, expected one of user %d: it is removed as that user", path,
			r.owner, os.Geteuid())
	}
	return os.Remove(path)
}
