// Package sddf replaces the file inert.go of qinst.dev/sddf in a build with qinst. Functions
// without a body here are in package runtime.
package sddf

import "unsafe"

const toolAPI = 3

const observed = true

//go:linkname announceRecord qinst_record_kind
func announceRecord(point *uint32, description, table string) uint32

//go:linkname on qinst_on
var on uint32

func counted(point uint32) bool { return on != 0 && countRecord(point) != 0 }

//go:linkname countRecord qinst_record
func countRecord(point uint32) uint32

//go:linkname emitRecord qinst_emit
//go:noescape
func emitRecord(point uint32, packet unsafe.Pointer, size uintptr)
