package steps

// StepID is an index of [Program.Steps]. 0 is none.
type StepID uint32

// G is a goroutine: an index of [Program.Gs]. Below 0 it is none.
type G int32

// NoG is no goroutine.
const NoG G = -1

// Token is a wait that a goroutine ended: the one that did gives it, and the one that waited takes
// it. 0 is none.
type Token uint32

// ObjectID is an index of [Program.Objects]. 0 is none.
type ObjectID uint32
