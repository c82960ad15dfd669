// Package goobj changes compiled packages: it removes an import, and gives functions other names.
//
// The linker loads the packages that an object file names in its list of imports, and compares the
// packages that the importing one was compiled against with those that it finds. An object that was
// compiled against a stand-in for a package would be refused, although all of its references are by
// name.
//
// See cmd/internal/goobj/objfile.go for the format.
package goobj

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	archiveMagic = "!<arch>\n"
	memberHead   = 60 // bytes: name 16, date 12, owner 6, group 6, mode 8, size 10, 2 that end it
	objectMember = "_go_.o"

	objectMagic = "\x00go120ld"
	offsetsAt   = len(objectMagic) + 8 + 4 // after the fingerprint and the flags
	blocks      = 19
	importSize  = 16 // of the list: length and offset of the path, 32 bits each, and a fingerprint
)

// DropImport removes a package from the imports of the object in an archive, which is changed in
// place and keeps its size. It is an error if the object does not import the package, or is not
// of the format that this package knows: then nothing is changed.
func DropImport(archive []byte, path string) error {
	b, err := object(archive)
	if err != nil {
		return err
	}
	return drop(b, path)
}

// object returns the object in an archive, whose blocks are within it and in order.
func object(archive []byte) ([]byte, error) {
	b, err := member(archive, objectMember)
	if err != nil {
		return nil, err
	}
	// The compiler puts lines of text before the object.
	at := bytes.Index(b, []byte("\n!\n"))
	if !bytes.HasPrefix(b, []byte("go object ")) || at < 0 {
		return nil, errors.New("found no head of a Go object")
	}
	b = b[at+3:]
	if !bytes.HasPrefix(b, []byte(objectMagic)) || len(b) < offsetsAt+4*blocks {
		return nil, fmt.Errorf("found no Go object of the format %q", objectMagic)
	}
	last := uint64(offsetsAt + 4*blocks)
	for i := range blocks {
		at := uint64(binary.LittleEndian.Uint32(b[offsetsAt+4*i:]))
		if at > uint64(len(b)) || at < last {
			return nil, errors.New("found a Go object whose blocks are not in order")
		}
		last = at
	}
	return b, nil
}

// member returns the contents of a member of an archive.
func member(archive []byte, name string) ([]byte, error) {
	if !bytes.HasPrefix(archive, []byte(archiveMagic)) {
		return nil, errors.New("found no archive")
	}
	for rest := archive[len(archiveMagic):]; len(rest) >= memberHead; {
		head := rest[:memberHead]
		size, err := strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 || size > int64(len(rest)-memberHead) || string(head[58:]) != "`\n" {
			return nil, errors.New("found a damaged archive")
		}
		if strings.TrimSpace(string(head[:16])) == name {
			return rest[memberHead:][:size], nil
		}
		size += size % 2 // members begin at even offsets
		rest = rest[min(int64(len(rest)), memberHead+size):]
	}
	return nil, fmt.Errorf("found no member %s", name)
}

// drop moves the package's entry to the front of the list of imports, and lets the list begin after
// it. So nothing else moves, and nothing refers to entries by number.
func drop(object []byte, path string) error {
	word := func(at uint64) uint64 { return uint64(binary.LittleEndian.Uint32(object[at:])) }
	size := uint64(len(object))
	from, to := word(uint64(offsetsAt)), word(uint64(offsetsAt)+4)
	if (to-from)%importSize != 0 {
		return fmt.Errorf("found a list of imports of %d bytes", to-from)
	}
	for at := from; at < to; at += importSize {
		n, name := word(at), word(at+4)
		if n > size || name > size-n {
			return errors.New("found an import without a path")
		}
		if string(object[name:name+n]) != path {
			continue
		}
		copy(object[from+importSize:at+importSize], bytes.Clone(object[from:at]))
		binary.LittleEndian.PutUint32(object[offsetsAt:], uint32(from+importSize))
		return nil
	}
	return fmt.Errorf("found no import of %s", path)
}
