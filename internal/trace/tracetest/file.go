package tracetest

import (
	"bytes"

	"qinst.dev/sddf"
)

// file is the file that a trace is written to.
type file struct {
	buf  bytes.Buffer // the whole file, unless NewTo says where it goes
	w    *sddf.Writer
	done bool
}

// put writes a record.
func (f *file) put(tag uint32, values ...any) { must(f.w.Data(tag, values...)) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
