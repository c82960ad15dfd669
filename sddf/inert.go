package sddf

import "unsafe"

// In a build with qinst another file stands in place of this one.

const observed = false

func announceRecord(*uint32, string, string) uint32 { return 0 }
func counted(uint32) bool                           { return false }
func emitRecord(uint32, unsafe.Pointer, uintptr)    {}
