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
