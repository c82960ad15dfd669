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
func setRate(points, limit string) bool
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
