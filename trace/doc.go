// Package trace reads what an instrumented program recorded as one ordered,
// validated stream of events.
//
//	t, err := trace.Open("prog.sddf")
//	...
//	defer t.Close()
//	losses, err := t.Events(func(batch []trace.Event) error {
//		for i := range batch { ... }
//		return nil
//	})
//
// Opening a file indexes it: a pass over the packets that reads the tables and
// notes where each thread's blocks lie. [Trace.Events] then merges the threads
// with one block of each in memory, so memory depends on the number of threads
// and live goroutines, not on the length of the file.
//
// The stream is what analyses may rely on, whatever the file says: time never
// goes back, a goroutine's states follow each other as [State] allows, enters
// and exits nest and balance, and a goroutine that ends has left every
// procedure. What had to be repaired or is missing is counted in [Losses],
// which every report shows.
//
// It does not judge or aggregate; that is what the packages under analysis do.
package trace
