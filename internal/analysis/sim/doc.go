// Package sim runs a program of steps again: on another number of processors, under another policy,
// or with work and waits that take more or less time. The run is computed, not measured: the same
// program gives the same run.
//
// # Virtual time
//
// Under processor sharing n goroutines on c processors each run at the rate min(1, c/n). Virtual
// time V goes by at that rate, so that work of length w that begins at V ends at V+w, whatever else
// runs. Real time is t with dt = max(1, n/c) dV. Under list scheduling a goroutine keeps its
// processor until it waits, and V is t.
//
// # Weights
//
// The weight of some work is dT/dw: by how much the run becomes longer if it does. A [Run] keeps
// the predecessor of each event. If an event of virtual time V_q moves by dV_q, the real time of
// all that follows moves by l_q dV_q with l_q = g(n before q) - g(n after q), g(n) = max(1, n/c),
// and 0 after the end. So T moves by the sum of l_q dV_q over all events, and dV_q is that of the
// event with which q's work began, plus its own length's. One pass from the last event to the first
// one gives all weights. Their sum, each times its length, is T, because T is homogeneous in the
// lengths.
//
// Delays are real times. The end of one that began with event p has gb_e dV_e = dd + gb_p dV_p -
// (sum of l_q dV_q over p <= q < e), with gb the value of g before the event.
//
// # Files
//
// No file uses, however indirectly, a file that uses it. From the first layer to the last one:
//
//   - log, pool, turns, watch and options have the options of a run; run, weights and slack have
//     its result.
//   - queue, objects, goroutine and state have the state of a run. No other file adds to it.
//   - trail and order note on which events others depend, lengths has how long work and waits take,
//     recorder writes the log, waits begins waits, and workers chooses the jobs of workers.
//   - scheduler and processors have the goroutines that run, and ready those that become ready to.
//   - locks, channels and operations have the operations on objects. barriers, idle, stop, tokens
//     and delays have all that goroutines wait for besides these.
//   - steps takes the steps of a goroutine, and events goes from one event to the next.
//   - once runs a program, and simulate does so until a run does not come to a standstill.
//
// There is one call the other way round. A step may wake a goroutine, which takes its own steps
// before that step is over. The layers before steps let it do so by a field, simulation.goOn.
package sim
