// Package steps turns a trace into a program of steps: what each goroutine worked, in order, and
// what it then did that others could be waiting for. Waits have no length there, because how long a
// goroutine waits is decided by whoever runs the program again, on other processors or with other
// lengths of work.
//
// # Steps
//
// A [Step] is some work and what ends it. Two kinds of dependences stand side by side. Every wait
// that a goroutine ended is a token, which that goroutine gives and the waiter takes. Every
// operation that a probe saw is one on its object. Tokens repeat the order of the run; operations
// leave the order open. Operations count where all of an object's were seen and agree with each
// other ([Object.Free]), else tokens do.
//
// # Positions
//
// A probe stands behind its operation, and may be late: a goroutine that has unlocked a mutex may
// lose its processor before the probe tells. Where the operation woke somebody or waited, it is
// where that happened.
package steps
