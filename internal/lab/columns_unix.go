//go:build unix

package lab

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Columns returns the width of a terminal, 0 if the writer is none.
func Columns(w io.Writer) int {
	f, ok := beneath(w).(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
