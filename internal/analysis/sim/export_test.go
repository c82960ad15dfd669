package sim

import "qinst.dev/internal/analysis/steps"

// Within is a run with a bound of events.
var Within = within

// TurnsOf are turns that a test gives to steps.
func TurnsOf(of map[steps.StepID]int32) *Turns { return &Turns{of} }
