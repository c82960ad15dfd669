// Package trace reads the trace of an instrumented program as one ordered, validated stream of
// events.
//
//	t, err := trace.Open("prog.sddf")
//	...
//	defer t.Close()
//	losses, err := t.Events(func(batch []trace.Event) error {
//		for i := range batch { ... }
//		return nil
//	})
//
// Opening a file indexes it: a pass over the packets reads the tables and notes the positions of
// each thread's buffers. [Trace.Events] then merges the threads with one buffer of each in
// memory, so memory depends on the number of threads and live goroutines, not on the length of
// the file.
//
// Analyses may rely on the stream, whatever the file contains: time never goes back, a
// goroutine's states follow each other as [State] allows, enters and exits nest and balance, and
// a goroutine that ends has left every procedure. Repairs and missing data are counted in
// [Losses], which every report must show.
//
// It does not judge or aggregate; the packages under analysis do that.
package trace
