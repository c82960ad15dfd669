// Package settings holds the run-time settings of an observed program, those of QINST in the
// environment and of [run] in qinst.toml, as one table: the name, the form of the values and the
// meaning of each. The program's parser, the check of qinst.toml, the help and the table of
// docs/guide/settings.md all come from it, because otherwise they could disagree.
//
// The table and its parser run inside observed programs, as a part of package runtime. So they
// must not import anything, and their functions must neither allocate nor wait.
package settings

import "embed"

// Sources are the files that become a part of package runtime.
//
//go:embed table.go parse.go nearest.go
var Sources embed.FS
