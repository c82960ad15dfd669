package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sources says where the text of procedures may be read from. Their files' names come from a trace,
// which anybody may have written: without bounds a page would show whatever file it names.
type Sources struct {
	Roots  []string // folders that a file must be below, under the name that it had when it was built
	Folder string   // one to search for the end of a file's name, too; "" for none
}

// maxSource is the size of the largest file that is read as source.
const maxSource = 4 << 20

// read finds a file by its name, or by the longest end of its name that there is in the folder.
func (s Sources) read(file string) ([]byte, error) {
	if filepath.IsAbs(file) {
		for _, root := range s.Roots {
			name, err := filepath.Rel(root, file)
			if err != nil || !filepath.IsLocal(name) {
				continue
			}
			text, err := below(root, name)
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return text, err
			}
		}
	}
	if s.Folder == "" {
		return nil, fmt.Errorf("found no %s below %s; -source=FOLDER tells where the source is", file,
			strings.Join(s.Roots, " or "))
	}
	parts := strings.Split(filepath.ToSlash(file), "/")
	for i := range parts {
		if name := filepath.Join(parts[i:]...); filepath.IsLocal(name) {
			if text, err := below(s.Folder, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
				return text, err
			}
		}
	}
	return nil, fmt.Errorf("found neither %s nor an end of that name in %s", file, s.Folder)
}

// below reads a file below a folder, to which no link leads out of it. To open a pipe must not
// wait.
func below(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	switch path := filepath.Join(folder, name); {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: found %v, expected a regular file", path, st.Mode())
	case st.Size() > maxSource:
		return nil, fmt.Errorf("%s: found %d bytes, expected %d at most", path, st.Size(), maxSource)
	}
	return io.ReadAll(io.LimitReader(f, maxSource))
}
