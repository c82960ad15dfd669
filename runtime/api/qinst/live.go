// Package qinst replaces the file inert.go of qinst.dev/extensions/qinst in a build with qinst.
// Functions without a body here are in package runtime.
package qinst

import _ "unsafe" // for linkname

const toolAPI = 3

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
