//go:build unix

package salvage

import (
	"io/fs"
	"os"
	"syscall"
)

// locked reports whether a program has the file locked.
func locked(f *os.File) bool {
	fd := int(f.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return true
	}
	_ = syscall.Flock(fd, syscall.LOCK_UN) // as it was: closing the file would do it
	return false
}

// ownerOf is the user that a file belongs to.
func ownerOf(st fs.FileInfo) int {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return os.Geteuid()
}
