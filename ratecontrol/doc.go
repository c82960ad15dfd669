// Package ratecontrol decides how much of each point of a program is recorded: limits
// of rates, levels and a budget for what the recording costs. It is a policy and
// nothing else: time and counts come in, levels and numbers of events go out.
//
// The same source runs inside observed programs, as a part of package runtime: it
// imports nothing, and its functions neither allocate nor wait.
package ratecontrol

import "embed"

// Sources are control.go and limit.go.
//
//go:embed control.go limit.go
var Sources embed.FS
