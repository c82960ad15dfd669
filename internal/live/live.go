// Package live holds the functions through which packages of programs speak to the
// runtime. In a plain build their file inert.go does nothing; in a build with qinst the
// tool puts the file of the folder here in its place. The files are packages of their
// own so that they are compiled and vetted like any others; nothing imports them.
//
// Tool and library may come from different versions of the module: a program requires
// one, and the tool was installed some time. Both carry a number, toolAPI, which a change
// of any function here or in inert.go raises.
package live

import "embed"

// Files has a folder for each package: its live.go.
//
//go:embed */live.go
var Files embed.FS

// Folders are the packages' folders, by import path.
var Folders = map[string]string{
	"qinst.dev":            "qinst",
	"qinst.dev/debug":      "debug",
	"qinst.dev/extensions": "extensions",
	"qinst.dev/sddf":       "sddf",
}
