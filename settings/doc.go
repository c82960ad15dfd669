// Package settings holds the run-time settings of an observed program, those of QINST in
// the environment and of [run] in qinst.toml, as one table: how each is named, what its
// values look like, what it means. The program's parser, the check of qinst.toml, the
// help and the table of README.md all come from it, so that none can disagree.
//
// The table and its parser run inside observed programs, as a part of package runtime:
// they import nothing, and their functions neither allocate nor wait.
package settings

import "embed"

// Sources are the files that become a part of package runtime.
//
//go:embed table.go parse.go nearest.go
var Sources embed.FS
