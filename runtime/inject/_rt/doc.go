// Package runtime, the part that qinst adds: the recording of events and counts inside
// the program under test.
//
// # Design
//
// Every OS thread (m) that records owns a recorder: a buffer of memory that events are appended to,
// and counters, one for each point that the thread has reached, with exact counts. A probe finds
// its recorder in the running g, counts in its counter without an atomic operation, and writes an
// event of 8 to 24 bytes if the counter has quota. Calls are counted in line, in a ledger, which
// the thread owns, too (hook_ledger.go). Full buffers go to the writer, a thread of our own, which
// appends them to the file. The buffers, the recorders, the counters and the ledgers lie in the
// ring, a file in /dev/shm, so that what a killed program has recorded can be read by others.
//
// Scheduling events come from hooks at the heads of the methods of Go's own tracer. They
// are written into the same buffers, so that the order of a thread's events is their order
// in its buffers, and no sorting by time is needed within a thread.
//
// Threads never wait for the writer. An event that finds no buffer is counted as lost, and
// the next event reports how many are missing. A hit that finds no counter is counted in
// counters that all threads share.
//
// # An example
//
// Goroutine 7 starts to run on the thread of recorder 2 and calls f, whose point is 5, once.
// The thread has not recorded before. It takes a buffer, whose head says
//
//	num=2 tid=4711 seq=0 ticks=1000 g=0 proc=3
//
// and puts these words after it, in hexadecimal digits:
//
//	00000000 09 000000   go start, at ticks 1000
//	00000200 00000007    goroutine 7, its second transition: to be created was the first
//	0000012c 01 000005   f entered, 300 ticks later
//	00000640 02 000005   f left, 1600 ticks after that
//
// Point 5's counter in recorder 2 then has hits=1, traced=1 and quota=-1. Under rate control its
// threshold is -256: 255 more entries of this thread are traced before it only counts, and when
// 128 are left the thread notes point 5 for the writer.
//
// The probe at the entry has returned the token 00000000 80000005 (depth 0 of the profile
// stack, traced, point 5). With it the one at the exit finds the point, and sets the depth
// back to 0. Had a panic that f recovers left procedures open, they would be closed by the
// same store.
//
// # Thread contexts
//
// The last line of a function's comment names the contexts that it runs in, if those are
// not all. A test computes them from the calls. A new caller from another context changes
// that line: then every function on the way must be allowed there.
//
//	start      The main goroutine before any other runs; a package's registration.
//	           It may call anything, and maps memory: nobody reads yet. It may lock
//	           qinstMemory, on the system stack.
//	probe      The goroutine of user code, on its own stack; sometimes g0 (timer functions).
//	           It calls nosplit functions of ours, and systemstack where that is rare. It
//	           locks nothing; on the system stack qinstMaking, qinstGrowing, and
//	           qinstMemory if that is free (qinstEndBurst). It does not allocate.
//	hook       Inside the scheduler, mostly on g0: with its locks held, with or without a
//	           P, on signal stacks. It calls as a probe does. It may hold sched.lock
//	           already, so that it locks as a probe does, and qinstLedging in execute and
//	           when a goroutine is stopped. It does not allocate.
//	end        The goroutine or signal handler that ends the process. It calls qinstWake
//	           and usleep, and parks in qinstReduceAll alone. It locks nothing, and does
//	           not allocate.
//	goroutine  An ordinary goroutine inside a call of user code (qinst.Name, /debug). It may
//	           call anything that blocks, and lock qinstMemory, on the system stack.
//	           It does not allocate.
//	writer     A thread of ours without a P. It makes system calls, and executes no write
//	           barrier (nowritebarrierrec) while the program lives. It may lock
//	           qinstMemory and allglock, and maps memory.
//	sampler    Up to eight threads of the same kind. They call as the writer does, and read
//	           the profile stacks of other goroutines. They lock and allocate nothing.
//	reducer    A goroutine of the runtime that the writer alone wakes. It may call anything,
//	           for it runs extensions, which are user code. It has locks of its own, held
//	           while nobody waits, and allocates in user code.
//	jumper     Another one, that stops the world to write jumps. It locks nothing of ours,
//	           and does not allocate.
//
// Locks of ours are spin locks. Their holders are on a system stack, since a goroutine
// could be preempted with the lock and everybody else would spin until it runs again.
// qinstMemory comes before qinstGrowing, qinstLedging and qinstMaking, which are taken one at a
// time. No function takes one that it may hold.
//
// # Levels in a counter's quota
//
// A hit is recorded, beyond being counted, if quota > threshold, compared as signed numbers: quota
// is the counter's, threshold its recorder's. So one comparison decides for a counter, and one
// store to threshold stops a whole thread. These are the numbers, in ascending order; the order is
// what makes the comparison right.
//
//	-1<<31          low of a recorder without rate control: no quota gets there, so that no
//	                point is ever noted for the writer
//	-1<<29          threshold where nothing limits points. A zero counter has 2^29 events above
//	                it; qinstRefill gives a counter more before those are used up
//	-qinstFree      threshold under rate control: a zero counter has 256 events to begin with
//	threshold           quota of a point at level count or off: it is above no threshold
//	threshold+qinstLow  low: whose quota comes down to it the writer is told of (qinstWant)
//	threshold+n         quota of a point at level trace: n more events, 1<<28 at most
//	1<<31-5         qinstCountOnly, threshold of a thread that found no buffer, of mode=count,
//	                and after the limit: no quota of a traced point is above it. A thread that found
//	                buffers, but none left by the budget, has it for entries alone
//	                (qinstRecorder.telling)
//	1<<31-4         qinstBursting, quota in a burst of a point that is only counted: the
//	                thread ends it
//	1<<31-3         qinstDelayed, quota of a point whose hits take longer
//	1<<31-2         qinstTimedSlow, quota of a timed point where the clock is nanotime
//	1<<31-1         qinstTimed, quota of a timed point
//
// The last four are above qinstCountOnly, since neither a count, a time nor a delay needs a buffer:
// a starved thread goes on. qinstTrace and the assembly test for them by quota >= qinstBursting,
// and the assembly then for quota == qinstTimed, so nothing may lie between or above them.
// Operations test for qinstDelayed alone, and qinstEmit takes one from quota without a test,
// because only points with an entry and an exit are ever timed (qinstDecide turns time into count
// for the others), and records are never delayed.
//
// # Rules
//
//  1. Everything that touches a recorder MUST be a called nosplit function of package
//     runtime. Such code is never preempted asynchronously (preempt.go,
//     isAsyncSafePoint), so getg().m cannot change under it. Otherwise, or inlined into
//     user code, a goroutine moves to another thread between reading the recorder and
//     writing to it: two threads increment one counter, and counts are lost. What is
//     inlined may write to the ledger alone, which moves with the goroutine.
//  2. Probes and hooks MUST NOT allocate, park, or take a lock of the runtime. Otherwise
//     the program deadlocks: they are entered with the scheduler's locks held, on signal
//     stacks, and without a P. The writer prepares the buffers, recorders, counters and profile
//     stacks that they need on lock-free lists. If a list is empty they may make more on a
//     system stack, by a system call that does not wait, or else they only count. A delay
//     gives its processor away where a call of the program's own might (qinstSpend), and an
//     arrival at a barrier that a rule names parks where one might (qinstArrive). Neither
//     happens anywhere else: the delay of a deferred operation is in no frame of the assembly.
//  3. Recorders, buffers, counters and profile stacks MUST NOT be unmapped. Otherwise the writer
//     or a sampler, which read them while their threads run, would crash the program.
//  4. g.qinst MUST be the recorder of the thread that runs the goroutine, or none. It is set
//     where a thread begins to run one (execute, coroswitch_m) and spares the probes a
//     load that a locked instruction before them makes them wait for. Otherwise a probe
//     counts in the counter of another thread.
//  5. Data that a reader finds by an address or a number MUST be stored before the address
//     or number is published: an event before p, a buffer's head before its first p, a slab
//     before its place in the directory, the ring's words before its magic. Otherwise the
//     reducer, or a reader of a killed program's ring, takes old memory for events.
//  6. Whether an activation is traced, timed or only counted MUST be decided at its entry,
//     and its exit MUST go by the token. Otherwise levels that change in between make
//     entries without exits, and procedures that never end.
//  7. A hit MUST be counted before anything that can fail, and traced MUST grow with the
//     event alone. Otherwise hits = traced + timed + counted does not hold, which every
//     report rests on.
//  8. A transition of a goroutine MUST be written by the thread that owns it, where Go's
//     tracer notes it. Otherwise the sequence number in g, which no atomic operation
//     protects, is given out twice, and readers cannot order two threads' events.
//  9. The writer MUST NOT allocate, execute a write barrier, or take a lock that a dying
//     thread may hold. Otherwise a program that panics with that lock waits for a writer
//     that waits for it; qinstAwait gives up after 10 s, and the file has no end.
//  10. Whatever fails, the program MUST go on as if it had not been instrumented: no exit,
//     no panic, nothing on stdout, one line on stderr. Otherwise nobody could run it in
//     production.
package runtime
