package trace

// WriteIndexEvery is WriteIndex with more checkpoints.
var WriteIndexEvery = (*Trace).writeIndex
