//go:build !linux

package steps

import "unsafe"

// advise does nothing: other systems have no such advice, or need none.
func advise(unsafe.Pointer, uintptr) {}
