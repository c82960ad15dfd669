package sddf

import (
	"fmt"
	"io"

	"qinst.dev/sddf/spec"
)

// An Unpacker presents a compressed file as an uncompressed one: a reader of it, and its length.
type Unpacker func(src io.ReaderAt, size int64) (io.ReaderAt, int64, error)

var codecs = map[string]Unpacker{}

// RegisterCodec makes files of a codec readable. A package that reads one calls it when it is
// initialised, as the command's own does, so that programs that import none need not
// link one.
func RegisterCodec(name string, u Unpacker) { codecs[name] = u }

// Unpack presents a file of a codec as if it were not compressed.
func Unpack(codec string, src io.ReaderAt, size int64) (io.ReaderAt, int64, error) {
	u, ok := codecs[codec]
	if !ok {
		return nil, 0, fmt.Errorf("found a file compressed by the codec %q, which this program does not link: \"qinst convert -to=sddf\" makes it readable, or sddf.RegisterCodec with what reads the codec", codec)
	}
	return u(src, size)
}

// Codec returns the codec of a compressed file from its header, "" if the file is not compressed.
func (p *Packet) Codec() string {
	for _, a := range p.Attrs {
		if name, ok := a.Value.(string); ok && p.Kind == spec.Header && a.Key == spec.AttrPacked {
			return name
		}
	}
	return ""
}
