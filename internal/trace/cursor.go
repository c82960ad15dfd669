package trace

import (
	"encoding/binary"
	"io"

	"qinst.dev/sddf/spec"
)

// cursor walks over one thread's events with one block in memory.
type cursor struct {
	t      *Trace
	losses *Losses
	blocks []block // still to come
	block  block   // the open one
	buf    []byte
	pos    int // of the current entry
	size   int // bytes of the current entry

	time uint64 // ticks of the current entry
	word uint64 // its first word
	// fresh is set at the first entry of a buffer, because the reader may need the context in the
	// buffer's head. lost is set too if buffers are missing before it.
	fresh, lost bool
	cut         bool // there are later entries than must be read
}

func newCursor(t *Trace, blocks []block, losses *Losses) *cursor {
	return &cursor{t: t, blocks: blocks, losses: losses}
}

// next moves to the next entry. It consumes the entries that only set the time.
func (c *cursor) next() bool {
	c.pos += c.size
	for {
		if c.pos+8 > len(c.buf) {
			if !c.load() {
				return false
			}
			continue
		}
		w := binary.LittleEndian.Uint64(c.buf[c.pos:])
		size := 8 * int(c.t.layout.words[w>>24&0xff])
		if c.t.layout.tails[w>>24&0xff] != 0 && size <= len(c.buf)-c.pos {
			size += c.tail(w >> 24 & 0xff)
		}
		if size == 0 || size > len(c.buf)-c.pos {
			c.losses.BlockDamage++
			c.pos = len(c.buf)
			continue
		}
		c.time += w >> 32
		if w>>24&0xff == spec.EvTime {
			c.setTime(c.arg(1))
			c.pos += size
			continue
		}
		if c.t.extent.until != 0 && c.time > c.t.extent.until {
			c.buf, c.blocks, c.cut = nil, nil, true
			return false
		}
		c.word, c.size = w, size
		return true
	}
}

// over reports whether all entries have been read.
func (c *cursor) over() bool { return len(c.buf)+len(c.blocks) == 0 && !c.cut }

// tail returns the number of bytes after the words of the entry at c.pos, which is of a kind
// that carries packets.
func (c *cursor) tail(kind uint64) int {
	t := c.t.layout.tails[kind]
	n := binary.LittleEndian.Uint64(c.buf[c.pos+8*int(t>>16):]) >> (t & 0xff)
	if width := t >> 8 & 0xff; width < 64 {
		n &= 1<<width - 1
	}
	return int(min(n, 1<<31)+7) &^ 7
}

func (c *cursor) setTime(ticks uint64) {
	if ticks < c.time {
		c.losses.BackwardTime++
	}
	c.time = ticks
}

// arg is word i of the current entry.
func (c *cursor) arg(i int) uint64 {
	return binary.LittleEndian.Uint64(c.buf[c.pos+8*i:])
}

// goWord is the goroutine that the entry names, and the number of its transition.
func (c *cursor) goWord() (GoID, uint32) {
	w := c.arg(1)
	return GoID(w & (1<<spec.GoBits - 1)), uint32(w >> spec.GoBits)
}

// load reads the next block. A block that cannot be read is damage, not an error:
// the rest of the trace is still good.
func (c *cursor) load() bool {
	for len(c.blocks) > 0 {
		b := c.blocks[0]
		c.blocks = c.blocks[1:]
		c.lost = c.lost || b.seq != c.block.seq+1
		if cap(c.buf) < int(b.Len) {
			c.buf = make([]byte, b.Len)
		}
		c.buf = c.buf[:b.Len]
		n, err := c.t.reader.File().ReadAt(c.buf, b.Off)
		if n < len(c.buf) && err != nil && err != io.EOF || !b.Whole(c.buf[:n]) {
			c.losses.BlockDamage++
			c.lost = true
			continue
		}
		c.buf = c.buf[:n]
		c.block, c.pos, c.size, c.fresh = b, 0, 0, true
		c.time = b.ticks
		return true
	}
	c.buf, c.pos, c.size = nil, 0, 0
	return false
}
