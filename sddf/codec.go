package sddf

import (
	"fmt"
	"io"

	"qinst.dev/sddf/spec"
)

// An Unpacker presents a compressed file as if it were not: what can be read, and how
// long it is.
type Unpacker func(src io.ReaderAt, size int64) (io.ReaderAt, int64, error)

var codecs = map[string]Unpacker{}

// RegisterCodec makes files of a codec readable. Packages that can read one call it when
// they are initialised, as qinst.dev/sddf/pack does: who imports none links none.
func RegisterCodec(name string, u Unpacker) { codecs[name] = u }

// Unpack presents a file of a codec as if it were not compressed.
func Unpack(codec string, src io.ReaderAt, size int64) (io.ReaderAt, int64, error) {
	u, ok := codecs[codec]
	if !ok {
		return nil, 0, fmt.Errorf("found a file compressed by the codec %q, which this program does not link: \"qinst convert -to=sddf\" makes it readable, or import qinst.dev/sddf/pack", codec)
	}
	return u(src, size)
}

// Codec is how a header says that its file is compressed, "" if it is not.
func (p *Packet) Codec() string {
	for _, a := range p.Attrs {
		if name, ok := a.Value.(string); ok && p.Kind == spec.Header && a.Key == spec.AttrPacked {
			return name
		}
	}
	return ""
}
