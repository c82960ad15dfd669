// Package api holds the functions through which packages of programs call the runtime. In a
// plain build their file inert.go does nothing; in a build with qinst the tool replaces it by the
// file of the folder here. The files are packages of their own so that they are compiled and
// vetted like any others; no package imports them.
//
// Tool and library may come from different versions of the module, because a program requires one
// version, and the installed tool may be of another. Both have a number, toolAPI. A change of any
// function here or in inert.go must raise it.
package api

import "embed"

// Module is the path of this module. Apart from go.mod, imports, tests and documents it is only
// here.
const Module = "qinst.dev"

// Files has a folder for each package: its live.go.
//
//go:embed */live.go
var Files embed.FS

// Folders are the packages' folders, by import path.
var Folders = map[string]string{
	Module + "/extensions":       "extensions",
	Module + "/extensions/debug": "debug",
	Module + "/extensions/qinst": "qinst",
	Module + "/sddf":             "sddf",
}

// Moved are import paths of earlier versions, with those that took their place.
var Moved = map[string]string{
	Module:            Module + "/extensions/qinst",
	Module + "/debug": Module + "/extensions/debug",
}
