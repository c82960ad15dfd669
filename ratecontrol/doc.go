// Package ratecontrol decides how much of each point of a program is recorded: limits of rates,
// levels and a budget for the cost of recording. It is a pure policy: its input is time and
// counts, its output levels and numbers of events.
//
// The same source runs inside observed programs, as a part of package runtime. So it must not
// import anything, and its functions must neither allocate nor wait.
package ratecontrol

import "embed"

// Sources are control.go and limit.go.
//
//go:embed control.go limit.go
var Sources embed.FS
