// Package steps turns a trace into a program of steps: each goroutine's work, in order, and its
// actions that other goroutines could wait for. Waits have no length, because a run of the program
// on other processors, or with other lengths of work, decides it anew.
//
// # Steps
//
// A [Step] is some work and its end. Two kinds of dependences stand side by side. Every wait
// that a goroutine ended is a token, which that goroutine gives and the waiter takes. Every
// operation that a probe saw is one on its object. Tokens repeat the order of the run; operations
// leave the order open. Operations count where all of an object's were seen and agree with each
// other ([Object.Free]), else tokens do.
//
// # Positions
//
// A probe follows its operation, and may be late: a goroutine that has unlocked a mutex may lose
// its processor before the probe runs. If the operation woke a goroutine or waited, its position is
// that of the wake-up or the wait.
package steps
