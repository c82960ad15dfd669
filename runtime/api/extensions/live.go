// Package extensions replaces the file inert.go of qinst.dev/extensions in a build with qinst.
// Functions without a body here are in package runtime.
package extensions

import "unsafe"

const toolAPI = 3

const observed = true

//go:linkname startReducer qinst_reduce_start
func startReducer(run func()) bool

//go:linkname waitForWork qinst_reduce_wait
func waitForWork(worked uint64) (all, last bool)

//go:linkname beginRound qinst_reduce_round
func beginRound() (now uint64)

//go:linkname takeChunk qinst_reduce_take
func takeChunk() (buffer unsafe.Pointer, bytes uint32, full bool)

//go:linkname changeChunk qinst_reduce_change
func changeChunk(buffer unsafe.Pointer) bool

//go:linkname giveChunk qinst_reduce_give
func giveChunk(buffer unsafe.Pointer, bytes uint32)

//go:linkname dropped qinst_reduce_dropped
func dropped(point uint32) *uint64

//go:linkname givePackets qinst_reduce_packets
func givePackets(p unsafe.Pointer, n uintptr, packets uint64, sum uint32) bool

//go:linkname giveParts qinst_reduce_parts
func giveParts(p unsafe.Pointer, n uint32) bool

//go:linkname answer qinst_reduce_answer
func answer()

//go:linkname leave qinst_reduce_leave
func leave()

//go:linkname say qinst_reduce_say
func say(line string)

//go:linkname snapshot qinst_snapshot
func snapshot() (path string)

//go:linkname askedFor qinst_reduce_names
func askedFor() string

//go:linkname table qinst_table
func table(i int) (text string, base uint32, ok bool)
