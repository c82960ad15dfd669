package inject

import (
	"fmt"
	"strings"

	"qinst.dev/runtime/settings"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// generated returns the part of the runtime that is generated from tables: the descriptors of all
// records, a function that writes each, and the constants of settings. Constants of the format
// are in _rt/base_spec.go.
func generated() ([]byte, error) {
	var b strings.Builder
	b.WriteString("package runtime\n\n")
	fmt.Fprintf(&b, "const (\n\tqinstSettingNames = %q\n\tqinstMostSamplers = %d\n)\n", settings.Names(),
		settings.Table[settings.Samplers].Most)
	var preamble []byte
	var sums sddf.Segment
	for i := range spec.Records {
		preamble = sddf.AppendDescriptor(preamble, &spec.Records[i])
		sums.Add(preamble)
	}
	fmt.Fprintf(&b, "\n// qinstPreamble are the descriptors that every segment has.\nconst (\n\tqinstPreamble = %q\n\tqinstPreamblePackets = %d\n\tqinstPreambleSums = %#x\n)\n", preamble, sums.Packets, sums.Sum)
	fmt.Fprintf(&b, "\nconst (\n\tqinstLedgerOffset = %d\n\tqinstStackOffset = %d\n)\n", LedgerOffset, StackOffset)
	probes := &spec.Records[spec.TagProbes-1]
	fmt.Fprintf(&b, "\n// What packets begin with that the ring has, too: tables of probes, and descriptors.\nconst (\n\tqinstProbesHead = %q\n\tqinstDescriptorHead = %q\n)\n",
		packetHead(len(probes.Fields)+2, byte(spec.Data), byte(probes.Tag)), packetHead(6, byte(spec.Descriptor)))
	for i := range spec.Records {
		if r := &spec.Records[i]; writes(r) {
			if err := recordWriter(&b, r); err != nil {
				return nil, err
			}
		}
	}
	return []byte(b.String()), nil
}

// packetHead is what a packet of n elements, below 256, begins with.
func packetHead(n int, first ...byte) []byte {
	if n < 16 {
		return append([]byte{0x90 | byte(n)}, first...)
	}
	return append([]byte{0xdc, 0, byte(n)}, first...)
}

// writes reports whether the runtime writes a record field by field. Most of "probes" is encoded
// by the tool, extensions write their own records, and states are of parts of a trace.
func writes(r *spec.Record) bool {
	return r.Tag != spec.TagProbes && r.Tag != spec.TagExtension && r.Tag != spec.TagState
}

// recordWriter adds the function that writes a record: its parameters are the fields, in their
// order. Of an array or a packed field, which must be the last, it writes the head alone: the
// parameter is how many elements or bytes the caller appends, who then seals it. A value encodes to
// the same bytes whatever it is, but for small ones of one byte.
func recordWriter(b *strings.Builder, r *spec.Record) error {
	var params, body strings.Builder
	for i, f := range r.Fields {
		typ, call := "", ""
		switch f.Type {
		case spec.U8:
			typ, call = "uint8", "qinstU8"
		case spec.U32:
			typ, call = "uint32", "qinstU32"
		case spec.U64:
			typ, call = "uint64", "qinstU64"
		case spec.I32:
			typ, call = "int32", "qinstI32"
		case spec.I64:
			typ, call = "int64", "qinstI64"
		case spec.F64:
			typ, call = "float64", "qinstF64"
		case spec.Str:
			typ, call = "string", "qinstStr"
		case spec.Packed:
			typ, call = "uint64", "qinstBlob"
		case "[]" + spec.U64:
			typ, call = "uint64", "qinstArray"
		}
		if last := i == len(r.Fields)-1; typ == "" || !last && (call == "qinstBlob" || call == "qinstArray") {
			return fmt.Errorf("record %q: found field %q of type %s, which the runtime cannot write there", r.Name,
				f.Name, f.Type)
		}
		name := "v" + camel(f.Name) // so that no field is a word of Go
		fmt.Fprintf(&params, ", %s %s", name, typ)
		fmt.Fprintf(&body, "\t%s(%s)\n", call, name)
		if i == len(r.Fields)-1 && call != "qinstBlob" && call != "qinstArray" {
			body.WriteString("\tqinstSeal()\n")
		}
	}
	name := "qinstRecord" + camel(r.Name)
	fmt.Fprintf(b, "\n// %s writes a record %q: %s.\nfunc %s(%s) {\n\tqinstRecord(%d, %d)\n%s}\n",
		name, r.Name, r.Doc, name, strings.TrimPrefix(params.String(), ", "), r.Tag, len(r.Fields), body.String())
	return nil
}

// camel returns a name of the format as a part of a Go name.
func camel(name string) (s string) {
	for word := range strings.FieldsSeq(strings.ReplaceAll(name, "_", " ")) {
		s += strings.ToUpper(word[:1]) + word[1:]
	}
	return s
}
