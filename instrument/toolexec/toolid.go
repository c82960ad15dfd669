package toolexec

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// toolID makes the compiler's answer to -V=full ours, because the go command keys its cache by
// it. Releases use the whole line, other toolchains the part after the last slash of a last field
// "buildID=..."; this form serves both.
func toolID(line string, self []byte, sel Selection) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%x\n%s\n", strings.TrimSpace(line), self, sel.key())
	sum := base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
	return strings.TrimSpace(line) + " +qinst buildID=_/_/_/" + sum + "\n"
}

// ownID identifies the content of a program: the build ID that the go command has put near its
// start (reading the whole program would take longer than the compiler needs for its answer), or
// a hash of the file if it has none.
func ownID(exe string) ([]byte, error) {
	f, err := os.Open(exe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := make([]byte, 64<<10)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if id := goBuildID(start[:n]); id != nil {
		return id, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// goBuildID finds the marker that the linker puts before the text of a program.
func goBuildID(text []byte) []byte {
	_, rest, ok := bytes.Cut(text, []byte("\xff Go build ID: \""))
	if !ok {
		return nil
	}
	id, _, ok := bytes.Cut(rest, []byte("\"\n \xff"))
	if !ok || bytes.Count(id, []byte("/")) != 3 {
		return nil
	}
	return id
}
