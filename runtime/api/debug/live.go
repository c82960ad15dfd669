// Package debug replaces the file inert.go of qinst.dev/extensions/debug in a build with qinst.
// Functions without a body here are in package runtime.
package debug

import _ "unsafe" // for linkname

const toolAPI = 3

//go:linkname table qinst_table
func table(i int) (text string, base uint32, ok bool)

//go:linkname point qinst_point
func point(point uint32) (hits, traced, timed uint64, level uint8, rate float64)

//go:linkname flush qinst_flush
func flush() (path string)

//go:linkname checkRate qinst_check_rate
func checkRate(points, limit string) (expected, nearest string)

//go:linkname matches qinst_matches
func matches(pattern, name string) bool
