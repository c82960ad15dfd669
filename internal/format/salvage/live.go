package salvage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"qinst.dev/sddf"
)

// errMoves says that a program records while its memory is copied.
var errMoves = errors.New("found that the program records all the time, expected a moment in which it does not: the file has what it wrote up to now")

// OpenLive opens the file of a program that still runs, with all that it has recorded up to now. A
// program that hangs records hardly anything; of one that always does it is an error.
func OpenLive(path string) (*File, error) {
	const tries, apart = 40, 10 * time.Millisecond
	for try := 1; ; try++ {
		f, err := open(path, "", true)
		if err == nil && f.live && grown(path, f) {
			_ = f.Close()
			err = errMoves
		}
		if !errors.Is(err, errMoves) || try == tries {
			return f, err
		}
		time.Sleep(apart)
	}
}

// OpenNow opens the file of a program that still runs: with what only its memory has, unless that
// changes all the time.
func OpenNow(path string) (*File, error) {
	const tries = 3
	for range tries {
		f, err := open(path, "", true)
		switch {
		case err == nil && f.live && grown(path, f):
			_ = f.Close()
		case !errors.Is(err, errMoves):
			return f, err
		}
	}
	return Open(path)
}

// grown reports whether the program has written to its file since that was opened.
func grown(path string, f *File) bool {
	st, err := os.Stat(path)
	return err != nil || st.Size() != f.written
}

// copy takes the ring as it is at one moment: twice, with nothing between that differs.
func (r *ring) copy() error {
	one, err := r.used()
	if err != nil {
		return err
	}
	two, err := r.used()
	if err != nil {
		return err
	}
	same := func(a, b piece) bool { return a.at == b.at && bytes.Equal(a.data, b.data) }
	if !slices.EqualFunc(one.list, two.list, same) {
		return errMoves
	}
	r.data = two
	return r.readHead()
}

// pieces are a file with holes, which read as zeros.
type pieces struct {
	list []piece
	size int64
}

type piece struct {
	at   int64
	data []byte
}

// used reads the parts of the ring that are in use: a few of thousands of MiB.
func (r *ring) used() (*pieces, error) {
	const nextData, nextHole = 3, 4 // SEEK_DATA, SEEK_HOLE
	p := &pieces{size: int64(r.size)}
	for end := int64(0); end < p.size; {
		at, err := r.file.Seek(end, nextData)
		if errors.Is(err, syscall.ENXIO) {
			break // only a hole is left
		}
		if err == nil {
			end, err = r.file.Seek(at, nextHole)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.path, err)
		}
		data := make([]byte, end-at)
		if _, err := r.file.ReadAt(data, at); err != nil {
			return nil, fmt.Errorf("%s: %w", r.path, err)
		}
		p.list = append(p.list, piece{at, data})
	}
	return p, nil
}

// ReadAt reads as the file would.
func (p *pieces) ReadAt(b []byte, off int64) (int, error) {
	n := int(max(0, min(int64(len(b)), p.size-off)))
	clear(b[:n])
	for _, x := range p.list {
		if from := max(off, x.at); from < min(off+int64(n), x.at+int64(len(x.data))) {
			copy(b[from-off:n], x.data[from-x.at:])
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// TraceOf is the trace that a process writes: a file that one of its threads has open, since the
// writer may have descriptors of its own, and that names a ring of the process.
func TraceOf(pid string) (string, error) {
	list, err := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "fd", "*"))
	if err != nil {
		return "", err
	}
	for _, fd := range list {
		path, err := os.Readlink(fd)
		if err != nil {
			continue
		}
		f, size, err := openRegular(path)
		if err != nil {
			continue
		}
		r, err := sddf.NewReader(f, size)
		names := err == nil && strings.HasPrefix(filepath.Base(ringOf(r)), ringPrefix+pid)
		_ = f.Close()
		if names {
			return path, nil
		}
	}
	return "", fmt.Errorf("process %s has no trace open, expected a program with probes, of this user, that records to a file", pid)
}
