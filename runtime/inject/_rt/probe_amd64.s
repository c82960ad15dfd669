
// OPEN puts the point in AX on the profile stack, as qinstOpen does where there is room.
// It leaves the stack in CX, its depth in DX, and AX is what the entry says; it changes
// BX, DI and SI.
#define OPEN(grow) \
	MOVQ	g_qinstStack(R14), CX; \
	TESTQ	CX, CX; \
	JEQ	grow; \
	MOVL	qinstStack_depth(CX), DX; \
	CMPL	DX, qinstStack_size(CX); \
	JCC	grow; \
	MOVQ	qinstStack_entries(CX), DI; \
	MOVL	(g_stack+stack_hi)(R14), BX; \
	SUBL	SP, BX; \
	SUBL	$8, BX; \
	ORL	$const_qinstUntraced, AX; \
	MOVQ	DX, SI; \
	SHLQ	$4, SI; \
	MOVL	AX, qinstFrame_point(DI)(SI*1); \
	MOVL	BX, qinstFrame_below(DI)(SI*1); \
	INCL	DX; \
	MOVL	DX, qinstStack_depth(CX)

// POP takes the entry of the token in AX from the profile stack, if it is the last one
// there. A token of this kind has a stack.
#define POP(inner) \
	MOVQ	g_qinstStack(R14), CX; \
	CMPL	AX, qinstStack_depth(CX); \
	JNE	inner; \
	DECL	AX; \
	MOVL	AX, qinstStack_depth(CX)

// STAMP reads the clock and looks for room for an event of 8 bytes, in the buffer of the recorder
// in CX. It leaves the time in DX, the event with its distance from the last one in R11, and where
// it goes in R10; it changes AX. Where anything is to be done first it goes to slow.
#define STAMP(slow) \
	RDTSC; \
	SHLQ	$32, DX; \
	ORQ	AX, DX; \
	MOVQ	DX, R11; \
	SUBQ	qinstRecorder_last(CX), R11; \
	MOVQ	R11, R10; \
	SHRQ	$32, R10; \
	JNE	slow; \
	MOVQ	qinstRecorder_p(CX), R10; \
	TESTQ	R10, R10; \
	JEQ	slow; \
	CMPQ	R10, qinstRecorder_end(CX); \
	JHI	slow; \
	MOVQ	qinstRecorder_g(CX), AX; \
	CMPQ	AX, g_goid(R14); \
	JNE	slow; \
	SHLQ	$32, R11

// func qinst_enter(point uint32) uint64
//
// Counts the entry, and writes its event if there is a buffer with room for it and a profile stack
// with room for the entry. It needs no frame, and where it does not suffice it jumps to functions
// with its arguments: callers reserve space for the arguments of the function that they know. An
// index that is none of a point, or has a flag, finds no page (see qinstRecorder.page).
TEXT runtime·qinst_enter<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	PCALIGN	$64 // elsewhere a call may cost half as much again
	MOVQ	g_qinst(R14), CX
	MOVL	AX, DX
	SHRL	$const_qinstPageShift, DX
	MOVQ	const_qinstPage(CX)(DX*8), DI
	TESTQ	DI, DI
	JEQ	slow
	MOVL	AX, DX
	SHLQ	$4, DX
	INCQ	qinstCounter_hits(DI)(DX*1)
	MOVL	qinstCounter_quota(DI)(DX*1), BX
	CMPL	BX, qinstRecorder_threshold(CX)
	JGT	more
	CMPB	runtime·qinstSampling(SB), $0
	JNE	push
	XORL	AX, AX
	RET
push:
	OPEN(grow)
	MOVL	DX, AX
	RET
grow:
	JMP	runtime·qinstOpenSlow<ABIInternal>(SB)
more:
	CMPL	BX, $const_qinstBursting
	JGE	other
	CMPB	runtime·qinstSlowClock(SB), $0
	JNE	trace
	MOVQ	g_qinstStack(R14), SI
	TESTQ	SI, SI
	JEQ	trace
	MOVL	qinstStack_depth(SI), R8
	CMPL	R8, qinstStack_size(SI)
	JCC	trace
	LEAQ	(DI)(DX*1), DI
	MOVL	AX, R9
	STAMP(again)
	MOVL	R9, AX
	ORQ	$(const_qinstEvEnter<<24), AX
	ORQ	R11, AX
	MOVQ	AX, (R10)
	MOVQ	DX, qinstRecorder_last(CX)
	ADDQ	$8, R10
	MOVQ	R10, qinstRecorder_p(CX)
	INCL	qinstCounter_traced(DI)
	MOVL	R8, R11
	SHLQ	$4, R11
	ADDQ	qinstStack_entries(SI), R11
	MOVL	R9, qinstFrame_point(R11)
	MOVL	(g_stack+stack_hi)(R14), BX
	SUBL	SP, BX
	SUBL	$8, BX
	MOVL	BX, qinstFrame_below(R11)
	MOVQ	$0, qinstFrame_trips(R11)
	LEAL	1(R8), BX
	MOVL	BX, qinstStack_depth(SI)
	MOVQ	R8, AX
	SHLQ	$32, AX
	ORL	$const_qinstTraced, R9 // as 64 bits this constant would be negative
	ORQ	R9, AX
	DECL	qinstCounter_quota(DI)
	MOVL	qinstCounter_quota(DI), BX
	CMPL	BX, qinstRecorder_low(CX)
	JEQ	note
	CMPL	BX, qinstRecorder_threshold(CX)
	JEQ	note
	TESTQ	DX, runtime·qinstItself(SB)
	JEQ	note
	RET
note:
	JMP	runtime·qinstTraceEnd<ABIInternal>(SB)
again:
	MOVL	R9, AX
	JMP	trace
other:
	CMPL	BX, $const_qinstTimed
	JEQ	time
trace:
	JMP	runtime·qinstTrace<ABIInternal>(SB)
time:
	CMPB	runtime·qinstSampling(SB), $0
	JEQ	clock
	OPEN(trace)
clock:
	MOVL	AX, BX
	ANDL	$~const_qinstUntraced, BX
	ORL	$const_qinstTimedToken, BX
	RDTSC
	SHLQ	$32, AX
	SHLL	$const_qinstTimeShift, DX
	ORL	DX, BX
	ORQ	BX, AX
	RET
slow:
	JMP	runtime·qinstEnterSlow<ABIInternal>(SB)

// func qinst_exit(token uint64)
//
// The probe at a procedure's exit; token is what its entry returned.
TEXT runtime·qinst_exit<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	TESTL	$(const_qinstTimedToken|const_qinstTraced), AX
	JNE	more
	POP(inner)
	RET
inner: // something in it was left with it
	JMP	runtime·qinstClose<ABIInternal>(SB)
more:
	TESTL	$const_qinstTimedToken, AX
	JNE	time
	CMPB	runtime·qinstSlowClock(SB), $0
	JNE	trace
	MOVQ	g_qinstStack(R14), SI
	TESTQ	SI, SI
	JEQ	trace
	MOVQ	g_qinst(R14), CX
	MOVQ	AX, R9
	STAMP(again)
	MOVQ	R9, AX
	SHRQ	$32, AX
	MOVL	AX, qinstStack_depth(SI)
	ANDL	$(const_qinstMaxPoints-1), R9
	ORL	$(const_qinstEvExit<<24), R9
	ORQ	R9, R11
	MOVQ	R11, (R10)
	MOVQ	DX, qinstRecorder_last(CX)
	PREFETCHT0	(8+const_qinstAhead)(R10)
	ADDQ	$8, R10
	MOVQ	R10, qinstRecorder_p(CX)
	TESTQ	DX, runtime·qinstItself(SB)
	JEQ	note
	RET
note:
	JMP	runtime·qinstExitEnd<ABIInternal>(SB)
again:
	MOVQ	R9, AX
trace:
	JMP	runtime·qinstExit<ABIInternal>(SB)
time:
	JMP	qinstTimed<>(SB)

// func qinst_leave(token, trips uint64)
//
// The probe at a loop's exit; trips is the number of its iterations, 0 if the
// profile stack has it.
TEXT runtime·qinst_leave<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	TESTL	$(const_qinstTimedToken|const_qinstTraced|const_qinstDelayedToken), AX
	JNE	more
	POP(inner)
	RET
more:
	TESTL	$const_qinstTimedToken, AX
	JNE	time
inner: // loops in it were left with it
	JMP	runtime·qinstLoopLeft<ABIInternal>(SB)
time:
	JMP	qinstTimed<>(SB)

// qinstTimed adds an activation up, as qinstTimeExit does, where nothing of it is new.
TEXT qinstTimed<>(SB),NOSPLIT|NOFRAME,$0-0
	CMPB	runtime·qinstSlowClock(SB), $0
	JNE	slow
	CMPB	runtime·qinstSampling(SB), $0
	JEQ	clock
	// What qinstPopTimed does, where nothing lies above.
	MOVQ	g_qinstStack(R14), CX
	TESTQ	CX, CX
	JEQ	slow
	MOVL	qinstStack_depth(CX), DX
	DECL	DX
	CMPL	DX, qinstStack_size(CX)
	JCC	slow
	MOVL	AX, BX
	ANDL	$(const_qinstMaxPoints-1), BX
	ORL	$const_qinstUntraced, BX
	MOVQ	DX, DI
	SHLQ	$4, DI
	MOVQ	qinstStack_entries(CX), SI
	CMPL	BX, qinstFrame_point(SI)(DI*1)
	JNE	slow
	MOVL	DX, qinstStack_depth(CX)
clock:
	MOVQ	AX, BX
	MOVQ	AX, CX
	SHRQ	$32, CX
	MOVL	AX, SI
	SHRL	$const_qinstTimeShift, SI
	MOVQ	g_qinst(R14), R9
	RDTSC
	// The clock's upper half is seldom another one than at the entry.
	ANDL	$((1<<(32-const_qinstTimeShift))-1), DX
	CMPL	DX, SI
	JNE	again
	SUBL	CX, AX
	JCS	again
	ANDL	$(const_qinstMaxPoints-1), BX
	MOVQ	qinstRecorder_sums(R9), SI
	TESTQ	SI, SI
	JEQ	done
	MOVL	BX, CX
	SHLQ	$const_qinstSumShift, CX
	ADDQ	CX, SI
	MOVQ	AX, CX
	SUBQ	qinstSum_least(SI), CX
	CMPQ	CX, qinstSum_span(SI)
	JHI	more
	BSRQ	AX, CX
	JEQ	more
	MOVBLZX	BX, DI
	SHLL	$const_qinstHistShift, DI
	ADDQ	qinstRecorder_hists(R9), DI
	LEAL	1(BX), R8
	CMPL	R8, qinstHist_point(DI)
	JNE	more
	ADDQ	AX, qinstSum_sum(SI)
	INCL	(qinstHist_n+4)(DI)(CX*4)
done:
	RET
more:
	SHLQ	$20, AX
	ORQ	BX, AX
	JMP	runtime·qinstTimeExit<ABIInternal>(SB)
again: // the profile stack is done
	MOVQ	BX, AX
	JMP	runtime·qinstTimeExitAgain<ABIInternal>(SB)
slow:
	JMP	runtime·qinstTimeExitSlow<ABIInternal>(SB)

// func qinst_call(point uint32) uint32
//
// Counts a call.
TEXT runtime·qinst_call<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	PCALIGN	$64 // elsewhere a call may cost half as much again
	MOVQ	g_qinst(R14), CX
	MOVL	AX, DX
	SHRL	$const_qinstPageShift, DX
	MOVQ	const_qinstPage(CX)(DX*8), DI
	TESTQ	DI, DI
	JEQ	slow
	MOVL	AX, DX
	SHLQ	$4, DX
	INCQ	qinstCounter_hits(DI)(DX*1)
	XORL	AX, AX
	RET
slow:
	JMP	runtime·qinstCallSlow<ABIInternal>(SB)

// func qinst_callee(point uint32, pc uintptr) uint32
//
// Counts a call, and its callee where the table has it at the first place.
TEXT runtime·qinst_callee<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	PCALIGN	$64
	MOVQ	g_qinst(R14), CX
	MOVL	AX, DX
	MOVL	AX, SI
	SHRL	$const_qinstPageShift, SI
	MOVQ	const_qinstPage(CX)(SI*8), DI
	TESTQ	DI, DI
	JEQ	slow
	IMUL3Q	$const_qinstMixPoint, DX, SI
	XORQ	BX, SI
	MOVQ	$const_qinstMix, R8
	IMULQ	R8, SI
	SHRQ	$52, SI
	LEAQ	(SI)(SI*2), SI // 24 bytes each
	SHLQ	$3, SI
	ADDQ	qinstRecorder_callees(CX), SI
	CMPQ	BX, qinstCallee_pc(SI)
	JNE	slow
	CMPL	DX, qinstCallee_point(SI)
	JNE	slow
	INCQ	qinstCallee_n(SI)
	SHLQ	$4, DX
	INCQ	qinstCounter_hits(DI)(DX*1)
	XORL	AX, AX
	RET
slow:
	JMP	runtime·qinstCalled<ABIInternal>(SB)

// func qinst_told(word uintptr, point uint32, callee uintptr) uint32
//
// Notes that a call that was counted went to another callee than the one that the ledger's word
// names, where the thread's table has that callee at the first place.
TEXT runtime·qinst_told<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	g_qinst(R14), DX
	MOVQ	qinstRecorder_callees(DX), DX
	TESTQ	DX, DX
	JEQ	slow
	IMUL3Q	$const_qinstMixPoint, BX, SI
	XORQ	CX, SI
	MOVQ	$const_qinstMix, R8
	IMULQ	R8, SI
	SHRQ	$52, SI
	LEAQ	(SI)(SI*2), SI // 24 bytes each
	LEAQ	(DX)(SI*8), SI
	CMPQ	CX, qinstCallee_pc(SI)
	JNE	slow
	CMPL	BX, qinstCallee_point(SI)
	JNE	slow
	DECL	qinstCallee_turn(SI)
	JLE	slow // it may become the word's
	INCQ	qinstCallee_n(SI)
	MOVQ	g_racectx(R14), DX
	INCQ	(2*const_qinstLedgerBytes)(DX)(AX*1)
	XORL	AX, AX
	RET
slow:
	JMP	runtime·qinstTellCallee<ABIInternal>(SB)

// func qinst_sync(point uint32, obj, queue uintptr) uint32
//
// Counts an operation on a synchronization object. The result is for qinst_deferred: 1 if the operation is to be delayed.
TEXT runtime·qinst_sync<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	PCALIGN	$64 // elsewhere a call may cost half as much again
	MOVQ	g_qinst(R14), R8
	MOVL	AX, R9
	SHRL	$const_qinstPageShift, R9
	MOVQ	const_qinstPage(R8)(R9*8), R11
	TESTQ	R11, R11
	JEQ	slow
	MOVL	AX, R9
	SHLQ	$4, R9
	INCQ	qinstCounter_hits(R11)(R9*1)
	MOVL	qinstCounter_quota(R11)(R9*1), R10
	CMPL	R10, qinstRecorder_telling(R8)
	JGT	trace
	XORL	AX, AX
	RET
trace:
	JMP	runtime·qinstSyncTrace<ABIInternal>(SB)
slow:
	JMP	runtime·qinstSyncSlow<ABIInternal>(SB)

// func qinst_deferred(point uint32, obj, queue uintptr, method func())
//
// Counts an operation on a synchronization object that was deferred, and jumps to the method that does it,
// as if that had been deferred: it may recover, and no stack shows who called it. A point that is off is -1.
// Its frame has the method, of which the collector knows nothing. So nobody may be parked in here, and a delay is done by another function, which
// calls the method.
TEXT runtime·qinst_deferred<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	CMPL	AX, $-1
	JEQ	off
	PUSHQ	BP
	MOVQ	SP, BP
	PUSHQ	DI
	PUSHQ	AX
	PUSHQ	BX
	ADJSP	$24 // for the callee's arguments
	ORQ	$const_qinstDeferredCall, CX
	CALL	runtime·qinst_sync<ABIInternal>(SB)
	ADJSP	$-24
	POPQ	BX
	POPQ	CX
	POPQ	DI
	POPQ	BP
	TESTL	AX, AX
	JEQ	off
	MOVQ	CX, AX
	MOVQ	DI, CX
	JMP	runtime·qinstDelayDeferred<ABIInternal>(SB)
off:
	MOVQ	DI, DX
	MOVQ	(DX), AX
	JMP	AX

// func qinst_jump()
//
// The code of a method value with a probe: does what qinst_deferred does. The closure in DX has its
// arguments.
TEXT runtime·qinst_jump<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	8(DX), AX
	MOVQ	16(DX), BX
	MOVQ	24(DX), CX
	MOVQ	32(DX), DI
	JMP	runtime·qinst_deferred<ABIInternal>(SB)

// func qinstNow() uint64
TEXT runtime·qinstNow<ABIInternal>(SB),NOSPLIT,$0-0
	CMPB	runtime·qinstSlowClock(SB), $0
	JNE	slow
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	RET
slow:
	JMP	runtime·nanotime<ABIInternal>(SB)

// func qinstInvariantClock() bool
TEXT runtime·qinstInvariantClock<ABIInternal>(SB),NOSPLIT,$0-0
	LEAQ	qinst_fini(SB), AX // for the linker, which sees no other use of it
	MOVL	$0x80000000, AX
	CPUID
	CMPL	AX, $0x80000007
	JB	none
	MOVL	$0x80000007, AX
	CPUID
	MOVL	DX, AX
	SHRL	$8, AX
	ANDL	$1, AX
	RET
none:
	XORL	AX, AX
	RET

// func qinst_trial()
//
// It waits until the trial is over, and ends. It has no g, and of its stack it uses the word that its call has pushed.
TEXT runtime·qinst_trial<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
again:
	LEAQ	runtime·qinstTrialOver(SB), DI
	MOVL	$128, SI // FUTEX_WAIT|FUTEX_PRIVATE_FLAG
	XORL	DX, DX
	XORL	R10, R10
	MOVL	$202, AX // futex
	SYSCALL
	MOVL	runtime·qinstTrialOver(SB), AX
	TESTL	AX, AX
	JEQ	again
	LOCK
	DECL	runtime·qinstTrialLeft(SB)
	XORL	DI, DI
	MOVL	$60, AX // exit
	SYSCALL
	INT	$3

// func qinst_fini()
//
// See where it is exported. It has no g, may not change the registers that C keeps, and calls nothing.
TEXT qinst_fini(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	runtime·qinstStarted(SB), AX
	TESTL	AX, AX
	JEQ	out
	MOVL	$const_qinstSysGetpid, AX
	SYSCALL
	MOVQ	runtime·qinstOwnPID(SB), CX
	CMPQ	AX, CX
	JNE	out // a child of a fork
	XORL	AX, AX
	MOVL	$1, CX
	LOCK
	CMPXCHGL	CX, runtime·qinstEnds(SB)
	JNE	await
	MOVL	$-1, runtime·qinstStatus(SB)
	MOVQ	$const_qinstFiniEnd, AX
	MOVQ	runtime·qinstHead(SB), CX
	MOVQ	AX, (8*const_qinstRingWordEnd)(CX)
	MOVL	$(const_qinstWhyHost+1), AX
	XCHGL	AX, runtime·qinstEnding(SB)
await:
	PUSHQ	$0 // a struct timespec
	PUSHQ	$const_qinstFiniSeconds
	MOVL	$const_qinstFiniTurns, R9
again:
	MOVL	$1, AX
	XORL	CX, CX
	LOCK
	CMPXCHGL	CX, runtime·qinstSleeping(SB)
	JNE	rest
	LEAQ	runtime·qinstSleeping(SB), DI
	MOVL	$129, SI // FUTEX_WAKE|FUTEX_PRIVATE_FLAG
	MOVL	$1, DX
	MOVL	$202, AX // futex
	SYSCALL
rest:
	MOVL	runtime·qinstDone(SB), AX
	TESTL	AX, AX
	JNE	done
	MOVQ	runtime·qinstWaits(SB), R8
	LEAQ	runtime·qinstDone(SB), DI
	MOVL	$128, SI // FUTEX_WAIT|FUTEX_PRIVATE_FLAG
	XORL	DX, DX
	MOVQ	SP, R10
	MOVL	$202, AX
	SYSCALL
	CMPQ	AX, $-110 // ETIMEDOUT
	JNE	rest
	TESTQ	R8, R8
	JEQ	next
	CMPQ	R8, runtime·qinstWaits(SB)
	JEQ	unread
next:
	DECL	R9
	JNE	again
	MOVQ	runtime·qinstUnfinishedText(SB), SI
	MOVQ	runtime·qinstUnfinishedText+8(SB), DX
	JMP	say
unread:
	MOVQ	runtime·qinstUnreadText(SB), SI
	MOVQ	runtime·qinstUnreadText+8(SB), DX
say:
	MOVL	$2, DI
	MOVL	$1, AX // write
	SYSCALL
done:
	POPQ	AX
	POPQ	AX
out:
	RET

// func qinstChecksum(sum uint32, p, n uintptr) uint32
//
// The instruction takes one clock cycle and gives its result after three. So three parts of the bytes take turns, and
// what the first two come to is moved past the rest: a multiplication by x^(8*distance) modulo the polynomial. The
// product of two reflected numbers is shifted by one, and the instruction, which reduces it, multiplies by x^32.
// The constants are x^(8*LANE-33) and x^(16*LANE-33).
#define LANE 512
TEXT runtime·qinstChecksum<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	NOTL	AX
	CMPQ	CX, $(3*LANE)
	JCS	words
	MOVL	$0xdd7e3b0c, R8
	MOVQ	R8, X2
	MOVL	$0x170076fa, R8
	MOVQ	R8, X3
lanes:
	XORL	DX, DX
	XORL	DI, DI
	MOVL	$(LANE/8), SI
lane:
	CRC32Q	(BX), AX
	CRC32Q	LANE(BX), DX
	CRC32Q	(2*LANE)(BX), DI
	ADDQ	$8, BX
	DECL	SI
	JNE	lane
	MOVQ	AX, X0
	MOVQ	DX, X1
	PCLMULQDQ	$0, X3, X0
	PCLMULQDQ	$0, X2, X1
	PXOR	X1, X0
	MOVQ	X0, R8
	XORL	AX, AX
	CRC32Q	R8, AX
	XORL	DI, AX
	ADDQ	$(2*LANE), BX
	SUBQ	$(3*LANE), CX
	CMPQ	CX, $(3*LANE)
	JCC	lanes
words:
	SUBQ	$8, CX
	JCS	rest
word:
	CRC32Q	(BX), AX
	ADDQ	$8, BX
	SUBQ	$8, CX
	JCC	word
rest:
	ADDQ	$8, CX
	JEQ	done
byte:
	CRC32B	(BX), AX
	INCQ	BX
	DECQ	CX
	JNE	byte
done:
	NOTL	AX
	RET
