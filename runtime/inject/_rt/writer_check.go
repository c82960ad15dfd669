package runtime

import "unsafe"

// Checksums: CRC-32C of what is written, so that readers can tell damage from numbers. See package
// spec for what has one. All of it runs in the writer, while bytes are in its processor's cache or
// are about to be copied from there; probes know nothing of it.

// qinstCheck is the checksum of the packet that is being written, as far as it is written.
var qinstCheck struct {
	sum     uint32  // of the packet without its packed block, or of that
	outside uint32  // the packet's, while sum is its block's
	inside  bool    // a block is being written
	from    uintptr // bytes of the output buffer after this are not in sum yet

	packets uint64 // of the segment, after its header
	sums    uint32 // of their last checksums
}

// qinstCRC continues a checksum, 0 at first, with n bytes at p.
// Context: start, writer.
func qinstCRC(sum uint32, p, n uintptr) uint32 {
	if qinstHasCheck {
		return qinstChecksum(sum, p, n)
	}
	sum = ^sum
	for i := range n {
		sum ^= uint32(*(*byte)(unsafe.Pointer(p + i)))
		for range 8 {
			sum = sum>>1 ^ 0x82f63b78&-(sum&1)
		}
	}
	return ^sum
}

// qinstHasCheck reports whether the processor has the instructions.
var qinstHasCheck bool

// qinstCheckOut takes what the output buffer has of the packet into its checksum.
// Context: writer.
func qinstCheckOut() {
	c, o := &qinstCheck, &qinstOut
	if o.n > c.from {
		c.sum = qinstCRC(c.sum, uintptr(unsafe.Pointer(&o.buf[c.from])), o.n-c.from)
		c.from = o.n
	}
}

// qinstEnterBlock begins the bytes that have a checksum of their own.
// Context: writer.
func qinstEnterBlock() {
	qinstCheckOut()
	c := &qinstCheck
	c.outside, c.sum, c.inside = c.sum, 0, true
}

// qinstSeal ends a packet with its checksums. A packet without them is damaged for readers.
// Context: writer.
func qinstSeal() {
	qinstCheckOut()
	c := &qinstCheck
	sum := c.sum
	if c.inside {
		qinstU32(sum)
		sum = c.outside
	}
	qinstU32(sum)
	c.sum, c.inside = 0, false
	c.from = qinstOut.n // checksums are in none
	c.packets++
	c.sums += sum
}

// qinstWriteCheck ends a segment, or what there is of it: how many packets it has, and the sum of
// their checksums.
// Context: writer.
func qinstWriteCheck() {
	c := &qinstCheck
	qinstByte(0x93)
	qinstByte(qinstPacketCheck)
	qinstU64(c.packets)
	qinstU32(c.sums)
	qinstSeal()
}

// qinstWriteSealed writes packets that have their checksums.
// Context: writer.
func qinstWriteSealed(p, n uintptr, packets uint64, sums uint32) {
	qinstQueue(p, n)
	c := &qinstCheck
	c.from = qinstOut.n
	c.packets += packets
	c.sums += sums
}
