//go:build !unix

package lab

import "io"

// Columns returns 0: the width of a terminal is not known here.
func Columns(io.Writer) int { return 0 }
