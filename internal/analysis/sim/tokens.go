package sim

import "qinst.dev/internal/analysis/steps"

// tokenState is the state of a token: goroutines wait for it, or it was given. The zero value is
// neither.
type tokenState int32

// waitedBy is that of a token for which a goroutine waits, and givenAt that of one that was given
// at a node.
func waitedBy(g steps.G) tokenState { return tokenState(g) + 1 }
func givenAt(n nodeID) tokenState   { return -1 - tokenState(n) }

func (t tokenState) waited() bool    { return t > 0 }
func (t tokenState) waiter() steps.G { return steps.G(t - 1) }
func (t tokenState) given() bool     { return t < 0 }
func (t tokenState) node() nodeID    { return nodeID(-1 - t) }
