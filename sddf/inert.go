package sddf

import "unsafe"

// A build with qinst replaces this file by one of runtime/api.

// toolAPI is the version of the interface between this package and the tool; see runtime/api.
// If one package's number is raised, all must be.
const toolAPI = 3

const observed = false

func announceRecord(*uint32, string, string) uint32 { return 0 }
func counted(uint32) bool                           { return false }
func emitRecord(uint32, unsafe.Pointer, uintptr)    {}
