
// func qinst_enter(point uint32) uint64
//
// Counts the entry. It needs no frame, and where it does not suffice it jumps
// to functions of its own signature: callers reserve space for the arguments
// of the function that they know. An index that is none of a point, or has a flag,
// finds no page (see qinstRecorder.page).
TEXT runtime·qinst_enter<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVD	g_qinst(g), R1
	LSRW	$const_qinstPageShift, R0, R2
	ADD	$const_qinstPage, R1, R3
	MOVD	(R3)(R2<<3), R3
	CBZ	R3, slow
	MOVWU	R0, R2
	ADD	R2<<4, R3, R3
	MOVD	qinstCounter_hits(R3), R4
	ADD	$1, R4
	MOVD	R4, qinstCounter_hits(R3)
	MOVW	qinstCounter_quota(R3), R4
	MOVW	qinstRecorder_threshold(R1), R5
	CMPW	R5, R4
	BGT	more
	MOVBU	runtime·qinstSampling(SB), R5
	CBNZ	R5, push
	MOVD	ZR, R0
	MOVD	ZR, R1
	RET
push:
	JMP	runtime·qinstOpenSlow<ABIInternal>(SB)
more:
	MOVD	$const_qinstTimed, R5
	CMPW	R5, R4
	BEQ	time
trace:
	JMP	runtime·qinstTrace<ABIInternal>(SB)
time:
	MOVBU	runtime·qinstSampling(SB), R5
	CBNZ	R5, trace
	JMP	runtime·qinstTimeEnter<ABIInternal>(SB)
slow:
	JMP	runtime·qinstEnterSlow<ABIInternal>(SB)

// func qinst_exit(token uint64)
//
// The probe at a procedure's exit; token is what its entry returned.
TEXT runtime·qinst_exit<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVD	$const_qinstTimedToken, R1
	TST	R1, R0
	BNE	time
	TBZ	$31, R0, close // qinstTraced
	JMP	runtime·qinstExit<ABIInternal>(SB)
close:
	JMP	runtime·qinstClose<ABIInternal>(SB)
time:
	JMP	runtime·qinstTimeExitSlow<ABIInternal>(SB)

// func qinst_leave(token, trips uint64)
//
// The probe at a loop's exit; trips is the number of its iterations, 0 if the
// profile stack has it.
TEXT runtime·qinst_leave<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVD	$const_qinstTimedToken, R2
	TST	R2, R0
	BNE	time
	JMP	runtime·qinstLoopLeft<ABIInternal>(SB)
time:
	JMP	runtime·qinstTimeExitSlow<ABIInternal>(SB)

// func qinst_call(point uint32) uint32
//
// Counts a call.
TEXT runtime·qinst_call<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVD	g_qinst(g), R1
	LSRW	$const_qinstPageShift, R0, R2
	ADD	$const_qinstPage, R1, R3
	MOVD	(R3)(R2<<3), R3
	CBZ	R3, slow
	MOVWU	R0, R2
	ADD	R2<<4, R3, R3
	MOVD	qinstCounter_hits(R3), R4
	ADD	$1, R4
	MOVD	R4, qinstCounter_hits(R3)
	MOVD	ZR, R0
	RET
slow:
	JMP	runtime·qinstCallSlow<ABIInternal>(SB)

// func qinst_callee(point uint32, pc uintptr) uint32
TEXT runtime·qinst_callee<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	JMP	runtime·qinstCalled<ABIInternal>(SB)

// func qinst_told(word uintptr, point uint32, callee uintptr) uint32
TEXT runtime·qinst_told<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	JMP	runtime·qinstTellCallee<ABIInternal>(SB)

// func qinst_sync(point uint32, obj, queue uintptr) uint32
//
// Counts an operation on a synchronization object. The result is for qinst_deferred: 1 if the operation is to be delayed.
TEXT runtime·qinst_sync<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVD	g_qinst(g), R3
	LSRW	$const_qinstPageShift, R0, R4
	ADD	$const_qinstPage, R3, R5
	MOVD	(R5)(R4<<3), R5
	CBZ	R5, slow
	MOVWU	R0, R4
	ADD	R4<<4, R5, R5
	MOVD	qinstCounter_hits(R5), R6
	ADD	$1, R6
	MOVD	R6, qinstCounter_hits(R5)
	MOVW	qinstCounter_quota(R5), R6
	MOVW	qinstRecorder_telling(R3), R7
	CMPW	R7, R6
	BGT	trace
	MOVD	ZR, R0
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
	CMPW	$-1, R0
	BEQ	off
	MOVD.W	R30, -64(RSP)
	MOVD	R29, -8(RSP)
	SUB	$8, RSP, R29
	MOVD	R3, 40(RSP) // behind the callee's arguments
	MOVD	R0, 32(RSP)
	MOVD	R1, 48(RSP)
	ORR	$const_qinstDeferredCall, R2
	CALL	runtime·qinst_sync<ABIInternal>(SB)
	MOVD	40(RSP), R3
	MOVD	32(RSP), R4
	MOVD	48(RSP), R1
	MOVD	-8(RSP), R29
	MOVD.P	64(RSP), R30
	CBZ	R0, off
	MOVD	R4, R0
	MOVD	R3, R2
	JMP	runtime·qinstDelayDeferred<ABIInternal>(SB)
off:
	MOVD	R3, R26
	MOVD	(R26), R0
	JMP	(R0)

// func qinst_jump()
//
// The code of a method value with a probe: does what qinst_deferred does. The closure in R26 has its
// arguments.
TEXT runtime·qinst_jump<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVWU	8(R26), R0
	MOVD	16(R26), R1
	MOVD	24(R26), R2
	MOVD	32(R26), R3
	JMP	runtime·qinst_deferred<ABIInternal>(SB)

// func qinstNow() uint64
TEXT runtime·qinstNow<ABIInternal>(SB),NOSPLIT,$0-0
	MRS	CNTVCT_EL0, R0
	RET

// func qinstInvariantClock() bool
TEXT runtime·qinstInvariantClock<ABIInternal>(SB),NOSPLIT,$0-0
	MOVD	$qinst_fini(SB), R1 // for the linker, which sees no other use of it
	MOVD	$1, R0
	RET

// func qinst_trial()
//
// It waits until the trial is over, and ends. It has no g, and no stack.
TEXT runtime·qinst_trial<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MOVD	$runtime·qinstTrialOver(SB), R9
again:
	MOVD	R9, R0
	MOVD	$128, R1 // FUTEX_WAIT|FUTEX_PRIVATE_FLAG
	MOVD	ZR, R2
	MOVD	ZR, R3
	MOVD	$98, R8 // futex
	SVC
	LDARW	(R9), R1
	CBZW	R1, again
	MOVD	$runtime·qinstTrialLeft(SB), R9
less:
	LDAXRW	(R9), R1
	SUBW	$1, R1
	STLXRW	R1, (R9), R2
	CBNZW	R2, less
	MOVD	ZR, R0
	MOVD	$93, R8 // exit
	SVC
	BRK

// func qinst_fini()
//
// See where it is exported. It has no g, may not change the registers that C keeps, and calls nothing.
TEXT qinst_fini(SB),NOSPLIT|NOFRAME,$0-0
	MOVWU	runtime·qinstStarted(SB), R0
	CBZW	R0, out
	MOVD	$const_qinstSysGetpid, R8
	SVC
	MOVD	runtime·qinstOwnPID(SB), R1
	CMP	R0, R1
	BNE	out // a child of a fork
	MOVD	$runtime·qinstEnds(SB), R1
	MOVD	$1, R2
first:
	LDAXRW	(R1), R3
	CBNZW	R3, await
	STLXRW	R2, (R1), R4
	CBNZW	R4, first
	MOVW	$-1, R2
	MOVD	$runtime·qinstStatus(SB), R1
	MOVW	R2, (R1)
	MOVD	$const_qinstFiniEnd, R2
	MOVD	runtime·qinstHead(SB), R1
	MOVD	R2, (8*const_qinstRingWordEnd)(R1)
	MOVW	$(const_qinstWhyHost+1), R2
	MOVD	$runtime·qinstEnding(SB), R1
	STLRW	R2, (R1)
await:
	MOVD	$const_qinstFiniSeconds, R2 // a struct timespec
	STP.W	(R2, ZR), -16(RSP)
	MOVD	$const_qinstFiniTurns, R10
again:
	MOVD	$runtime·qinstSleeping(SB), R11
wake:
	LDAXRW	(R11), R0
	CBZW	R0, rest
	STLXRW	ZR, (R11), R4
	CBNZW	R4, wake
	MOVD	R11, R0
	MOVD	$129, R1 // FUTEX_WAKE|FUTEX_PRIVATE_FLAG
	MOVD	$1, R2
	MOVD	$98, R8 // futex
	SVC
rest:
	MOVD	$runtime·qinstDone(SB), R0
	LDARW	(R0), R1
	CBNZW	R1, done
	MOVD	runtime·qinstWaits(SB), R9
	MOVD	$128, R1 // FUTEX_WAIT|FUTEX_PRIVATE_FLAG
	MOVD	ZR, R2
	MOVD	RSP, R3
	MOVD	$98, R8
	SVC
	CMN	$110, R0 // ETIMEDOUT
	BNE	rest
	CBZ	R9, next
	MOVD	runtime·qinstWaits(SB), R1
	CMP	R9, R1
	BEQ	unread
next:
	SUBS	$1, R10
	BNE	again
	MOVD	runtime·qinstUnfinishedText(SB), R1
	MOVD	runtime·qinstUnfinishedText+8(SB), R2
	B	say
unread:
	MOVD	runtime·qinstUnreadText(SB), R1
	MOVD	runtime·qinstUnreadText+8(SB), R2
say:
	MOVD	$2, R0
	MOVD	$64, R8 // write
	SVC
done:
	ADD	$16, RSP
out:
	RET

// func qinstChecksum(sum uint32, p, n uintptr) uint32
TEXT runtime·qinstChecksum<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0
	MVNW	R0, R0
	SUBS	$8, R2
	BLO	rest
word:
	MOVD.P	8(R1), R3
	CRC32CX	R3, R0
	SUBS	$8, R2
	BHS	word
rest:
	ADDS	$8, R2
	BEQ	done
byte:
	MOVBU.P	1(R1), R3
	CRC32CB	R3, R0
	SUBS	$1, R2
	BNE	byte
done:
	MVNW	R0, R0
	RET
