package toolexec

import (
	"os"
	"path/filepath"
)

// live are the packages with which programs speak to the tool, and what stands in
// place of each one's file inert.go.
var live = map[string]string{
	"qinst.dev": `package qinst

import _ "unsafe"

//go:linkname setName qinst_name
func setName(name string)

//go:linkname beginRegion qinst_region
func beginRegion(name string) uint32

//go:linkname endRegion qinst_region_end
func endRegion(region uint32)

//go:linkname setRate qinst_set_rate
func setRate(points, limit string) (nearest string, ok bool)

//go:linkname snapshot qinst_snapshot
func snapshot() (path string)
`,
	"qinst.dev/debug": `package debug

import _ "unsafe"

//go:linkname table qinst_table
func table(i int) (text string, base uint32, ok bool)

//go:linkname point qinst_point
func point(point uint32) (hits, traced, timed uint64, level uint8, rate float64)

//go:linkname flush qinst_flush
func flush() (path string)
`,
	"qinst.dev/extensions": `package extensions

import "unsafe"

const observed = true

//go:linkname startReducer qinst_reduce_start
func startReducer(run func()) bool

//go:linkname waitForWork qinst_reduce_wait
func waitForWork(worked uint64) (all, last bool)

//go:linkname beginRound qinst_reduce_round
func beginRound() (now uint64)

//go:linkname takeChunk qinst_reduce_take
func takeChunk() (chunk unsafe.Pointer, bytes uint32, full bool)

//go:linkname changeChunk qinst_reduce_change
func changeChunk(chunk unsafe.Pointer) bool

//go:linkname giveChunk qinst_reduce_give
func giveChunk(chunk unsafe.Pointer, bytes uint32)

//go:linkname dropped qinst_reduce_dropped
func dropped(point uint32) *uint64

//go:linkname givePackets qinst_reduce_packets
func givePackets(p unsafe.Pointer, n uintptr) bool

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
`,
	"qinst.dev/sddf": `package sddf

import "unsafe"

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
`,
}

// bringToLife replaces the file of the command that does nothing.
func bringToLife(c *command, text string) error {
	for i, f := range c.files {
		if filepath.Base(f) == "inert.go" {
			c.files[i] = filepath.Join(c.objdir(), "qinst_live.go")
			return os.WriteFile(c.files[i], []byte(text), 0o666)
		}
	}
	return nil
}
