package sim

// Within is a run with a bound of events.
var Within = within
