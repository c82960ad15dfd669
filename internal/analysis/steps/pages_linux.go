package steps

import (
	"os"
	"syscall"
	"unsafe"
)

// advise asks for large pages. Without them everything works as well, so that errors say nothing.
func advise(start unsafe.Pointer, size uintptr) {
	page := uintptr(os.Getpagesize())
	skip := -uintptr(start) & (page - 1)
	inner := unsafe.Slice((*byte)(unsafe.Add(start, skip)), (size-skip)&^(page-1))
	_ = syscall.Madvise(inner, syscall.MADV_HUGEPAGE)
}
