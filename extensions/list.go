package extensions

// List returns the extensions that come with the package.
func List() []Shipped {
	plain := func(f func() Extension) func(string) (Extension, error) {
		return func(string) (Extension, error) { return f(), nil }
	}
	return []Shipped{
		{"profile", "calls, total and self time of each procedure, in place of its events", "",
			Procedures | Drops, plain(func() Extension { return &profiler{} })},
		{"lifetimes", "a histogram of how long each procedure's calls took, and percentiles", "",
			Procedures, plain(func() Extension { return &lifetimes{} })},
		{"transitions", "which procedure called which, how often and with what probability", "",
			Procedures, plain(func() Extension { return &transitions{} })},
		{"locks", "waits and holds of each lock, channel and wait group", "",
			Operations | Scheduling, plain(func() Extension { return &locks{} })},
		{"goroutines", "how many goroutines a function started, how long they lived and ran", "",
			Scheduling, plain(func() Extension { return &goroutines{} })},
		{"sample", "one of so many calls of each procedure, with its weight", "calls",
			Procedures | Drops, newSample},
		{"heavy", "the ways to procedures on which most time is spent, in bounded memory", "paths",
			Procedures, newHeavy},
		{"windows", "calls and times of each procedure by stretch of time, in place of its events", "time",
			Procedures | Drops, newWindows},
		{"outliers", "calls slower than a percentile of their procedure's, in place of all events", "percentile",
			Procedures | Drops, newOutliers},
		{"trigger", "asks the flight recorder for a file: main.f>100ms, or a record's field: request.status=500",
			"condition",
			Procedures | Records, newTrigger},
	}
}
