// Package spec holds the definitions that every side of the SDDF format shares: packet kinds,
// field types, the records that an instrumented program writes, and the layout of their packed
// blocks. It must not import anything, because the writer inside the program under test, the
// readers, the documentation's tests and the code generator all use the same tables.
//
// A file is a sequence of packets, each one msgpack array whose first element
// is the packet kind:
//
//	header      [0, "SDDF", version, producer, {attribute: value}]
//	attribute   [1, key, value]
//	descriptor  [2, tag, name, {attribute: value}, [field ...], layout or nil]
//	data        [3, tag, value ...]         one value a field, in order
//	command     [4, name, {argument: value}]
//	compressed  [5, codec, size, bytes]     packets of that size, but no header
//	check       [6, packets, sum]           of the segment up to here
//
// Each packet is followed by its checksums, unsigned integers in the form 0xce: that of the content
// of each bin among the packet's elements, then that of its other bytes. They are CRC-32C. The
// bytes of events are checked apart, so that a reader that goes past them need not read them.
//
// A header begins a segment, which can be read without the packets before it. A check counts the
// segment's packets behind the header, and has the sum, modulo 2^32, of the last checksum of each.
// A field is [name,
// type, unit, doc, {attribute: value}]. A layout describes the one field of type "packed" of its
// record; see [Layout].
package spec

// Version is the format version. It must be raised when a packet's shape, a
// field type's encoding or the meaning of a layout changes. New records, new
// fields at the end of a record, and new variants of a layout need no new
// version: readers find them in the descriptors. A reader of a version reads the
// one before it, too.
//
// Version 2 added segments, attributes of fields, the types i8, i16, f32, bytes,
// time and duration, arrays of several dimensions with their extents, signed and
// floating bit fields, and entries that carry a packet.
//
// Version 4 added checksums. There is no version 3, because a single bit that flips would make 2 of
// it, and so a file whose packets have no checksums.
const Version = 4

// FirstChecked is the first version whose packets have checksums, LastUnchecked the last whose have
// none.
const (
	FirstChecked  = 4
	LastUnchecked = 2
)

// OldestVersion is the oldest version that readers accept.
const OldestVersion = 1

// Magic is the second element of the header packet.
const Magic = "SDDF"

// PacketKind is the first element of every packet (Pablo's four, and a header).
type PacketKind uint8

// The packet kinds.
const (
	Header PacketKind = iota
	Attribute
	Descriptor
	Data
	Command
	Compressed // of other packets; see package pack
	Check      // of a segment
)

// CommandWindow asks readers of a trace to take the stream for the part of it between two
// times, its arguments [WindowFrom] and [WindowTo]: ticks, as "clock" records have them.
const (
	CommandWindow = "window"
	WindowFrom    = "from"
	WindowTo      = "to"
)

// Field types. A type preceded by "[]" is an array, encoded as a msgpack array. One
// of several dimensions has a pair of brackets for each and is encoded as
// [[extent ...], [cell ...]], the last index running fastest.
const (
	Bool     = "bool"
	U8       = "u8"
	U16      = "u16"
	U32      = "u32"
	U64      = "u64"
	I8       = "i8"
	I16      = "i16"
	I32      = "i32"
	I64      = "i64"
	F32      = "f32"
	F64      = "f64"
	Str      = "str"    // UTF-8 by convention; readers must not rely on it
	Bytes    = "bytes"  // a bin that nothing is known about
	Time     = "time"   // i64, ns since 1970-01-01 UTC
	Duration = "dur"    // i64, ns
	Packed   = "packed" // a bin whose words the record's Layout describes
)

// Units. An empty unit means a plain number or a text. Units that name a thing mark references to
// it. Users' records may have any other unit.
const (
	Ticks = "ticks" // of the processor's clock; "clock" records convert them
	Ns    = "ns"
	Us    = "us"
	Byte  = "bytes"
	Probe = "probe" // dense index: base of the package's table + offset in it
	Go    = "goroutine"
	Proc  = "processor" // scheduling context, Go's P
	Thr   = "thread"    // operating-system thread under measurement
	PC    = "pc"

	Address = "address"

	// Msgpack marks bytes that are one msgpack value of the program's own making.
	Msgpack = "msgpack"
)

// Attributes of headers. A header whose segment is not 0 continues the stream of the same
// identity: tags keep their meaning.
const (
	AttrStream  = "stream"  // any value that identifies the stream
	AttrSegment = "segment" // number of the segment in its stream, from 0
	AttrPacked  = "packed"  // there are compressed packets; the codec
)

// PartSuffix is what the name of a trace's second part has behind that of the first. Of a program
// that writes more than it may keep both parts have segments of one stream: the last ones.
const PartSuffix = ".more"

// MaxRun is the largest size of a compressed packet's content, and MaxRatio how
// often that may be the size of its bytes: so a short file stays short work.
const (
	MaxRun   = 4 << 20
	MaxRatio = 64
)

// Attr is an attribute of a stream, a record or a field. Value is a string, uint64, int64 (if
// negative), float64, bool or nil.
type Attr struct {
	Key   string
	Value any
}

// Field describes one value of a data packet.
type Field struct {
	Name, Type, Unit, Doc string
	Attrs                 []Attr
}

// Record describes one kind of data packet.
type Record struct {
	Tag    uint32
	Name   string
	Doc    string // its attribute "doc"
	Fields []Field
	Layout *Layout // of the record's packed field, nil if it has none
	Attrs  []Attr  // others
}

// Layout describes a packed block: a run of entries of 64-bit little-endian
// words.
//
// If Variants has one element with Kind < 0, every entry has that variant.
// Otherwise bits 24..31 of an entry's first word are the kind that selects the
// variant. If Delta is set, bits 32..63 of the first word are the time that
// passed since the preceding entry of the block (for the first entry: since the
// time in the record's field of that name), in that field's unit; an entry
// whose variant has a field named like Delta sets the time instead of
// advancing it.
type Layout struct {
	Delta    string
	Variants []Variant
}

// Variant is one kind of entry in a packed block.
type Variant struct {
	Kind   int // value of bits 24..31 of word 0; -1 if entries carry no kind
	Name   string
	Words  int
	Doc    string
	Fields []BitField

	// Tail names the field with the number of bytes that follow the words: a packet, then zeros
	// up to the next word. "" if none do.
	Tail string
}

// Bit field types.
const (
	Unsigned = ""
	Signed   = "int"   // two's complement
	Float    = "float" // IEEE 754, of 32 or 64 bits
)

// BitField is Width bits of one word of an entry, from bit Bit up.
type BitField struct {
	Name      string
	Word      int
	Bit       int
	Width     int
	Unit, Doc string
	Type      string // Unsigned, Signed or Float
}

// Variant returns the variant that has the given kind, or nil.
func (l *Layout) Variant(kind int) *Variant {
	for i := range l.Variants {
		if l.Variants[i].Kind == kind || l.Variants[i].Kind < 0 {
			return &l.Variants[i]
		}
	}
	return nil
}
