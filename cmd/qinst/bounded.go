package main

import (
	"bytes"
	"fmt"
	"io"

	"qinst.dev/internal/measure"
)

// bounded reads text that people and other programs give a command. A file that is no text, like a
// device or a disk's image, may have neither an end nor lines. The reader, which would keep all of
// it, then gets an error instead.
type bounded struct {
	from       io.Reader
	total      int64 // bytes that there may be
	line       int64 // bytes that a line may have
	read, here int64 // in all, and of this line
}

// Bounds of the texts that commands read.
const (
	mostText = 256 << 20
	mostLine = 1 << 20
)

func (b *bounded) Read(p []byte) (n int, err error) {
	n, err = b.from.Read(p)
	b.read += int64(n)
	rest := p[:n]
	for len(rest) > 0 && b.here <= b.line {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			b.here += int64(len(rest))
			break
		}
		if b.here += int64(i); b.here <= b.line {
			b.here, rest = 0, rest[i+1:]
		}
	}
	switch {
	case b.here > b.line:
		return 0, fmt.Errorf("found a line of more than %s, expected none as long in a text", measure.Bytes(b.line))
	case b.read > b.total:
		return 0, fmt.Errorf("found more than %s, expected a text of no more than that", measure.Bytes(b.total))
	}
	return n, err
}
