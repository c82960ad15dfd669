package trace

// WriteIndexEvery is WriteIndex with more checkpoints.
var WriteIndexEvery = (*Trace).writeIndex

// NotingEvery is Noting with more checkpoints, or fewer.
var NotingEvery = (*Trace).noting
