package runtime

// Constants of package spec, written by "go test ./runtime/inject -run TestConstants -update".

const (
	qinstTagClock          = 1
	qinstTagProbes         = 2
	qinstTagEvents         = 3
	qinstTagCounts         = 4
	qinstTagFunction       = 5
	qinstTagReason         = 6
	qinstTagFlush          = 7
	qinstTagOSCPU          = 8
	qinstTagThrottle       = 9
	qinstTagProcess        = 10
	qinstTagLimit          = 11
	qinstTagEnd            = 12
	qinstTagStack          = 13
	qinstTagFrame          = 14
	qinstTagCallee         = 15
	qinstTagText           = 16
	qinstTagState          = 17
	qinstTagLevel          = 18
	qinstTagSums           = 19
	qinstTagTimes          = 20
	qinstTagHistogram      = 21
	qinstTagReduced        = 22
	qinstTagExtension      = 23
	qinstTagGoroutine      = 24
	qinstTagMemory         = 25
	qinstTagPath           = 26
	qinstTagMetrics        = 27
	qinstTagBursts         = 28
	qinstTagCode           = 29
	qinstTagMachine        = 30
	qinstTagSource         = 31
	qinstTagPrice          = 32
	qinstTagRatios         = 33
	qinstFirstUserTag      = 256
	qinstMaxProbes         = 1048576
	qinstGoBits            = 40
	qinstEvEnter           = 1
	qinstEvExit            = 2
	qinstEvUnwind          = 3
	qinstEvTime            = 4
	qinstEvGoroutine       = 5
	qinstEvGap             = 6
	qinstEvLeave           = 7
	qinstEvGoCreate        = 8
	qinstEvGoStart         = 9
	qinstEvGoPark          = 10
	qinstEvGoStop          = 11
	qinstEvGoEnd           = 12
	qinstEvGoUnpark        = 13
	qinstEvGoSwitch        = 14
	qinstEvSyscallBegin    = 15
	qinstEvSyscallEnd      = 16
	qinstEvSyscallEndNoP   = 17
	qinstEvGoCreateSyscall = 18
	qinstEvGoEndSyscall    = 19
	qinstEvProcStart       = 20
	qinstEvProcStop        = 21
	qinstEvProcSteal       = 22
	qinstEvProcs           = 23
	qinstEvSTWBegin        = 24
	qinstEvSTWEnd          = 25
	qinstEvGCBegin         = 26
	qinstEvGCEnd           = 27
	qinstEvAssistBegin     = 28
	qinstEvAssistEnd       = 29
	qinstEvGoWait          = 30
	qinstEvGoUnparkBy      = 31
	qinstEvSync            = 32
	qinstEvSpinBegin       = 33
	qinstEvSpinEnd         = 34
	qinstEvRegionBegin     = 35
	qinstEvRegionEnd       = 36
	qinstEvGoName          = 37
	qinstEvLabels          = 38
	qinstEvRecord          = 39
	qinstEvSample          = 40
	qinstEvAlloc           = 41
	qinstEvLook            = 42
	qinstEvOff             = 43
	qinstEvTaken           = 44
	qinstEvOn              = 45
	qinstEvChannel         = 46
	qinstEvTimer           = 47
	qinstEvFired           = 48
	qinstEvTaskBegin       = 49
	qinstEvTaskEnd         = 50
	qinstEvSemaphore       = 51
	qinstEvLate            = 52
	qinstEvYields          = 53
	qinstEvEnd             = 54
	qinstEvWakeBegin       = 55
	qinstEvWakeEnd         = 56
	// the goroutine that runs on the thread
	qinstCauseGoroutine = 0
	qinstCauseNetpoll   = 1
	qinstCauseTimer     = 2
	qinstCauseGC        = 3
	qinstCauseScheduler = 4
	qinstLateUnit       = 1000
	qinstLeastLate      = 10
	qinstMostLate       = 16777215
	// runtime.Gosched and the like
	qinstStopSched   = 0
	qinstStopPreempt = 1
	qinstAllThreads  = 16777215
	// the exit is the function's first defer
	qinstFlagDeferExit = 1
	// deferred calls run after the exit and are charged to the caller
	qinstFlagLateDefer = 2
	// a call made by a defer statement
	qinstFlagDeferred = 4
	// a call whose callee is known at run time only
	qinstFlagDynamic = 8
	// a loop that only reads shared state until it changes
	qinstFlagSpin = 16
	// probed by directive, against the rules about size
	qinstFlagForced    = 32
	qinstFlagWeakName  = 64
	qinstFlagDerived   = 128
	qinstFlagInLine    = 256
	qinstInLineParts   = 6
	qinstProcPlain     = 0
	qinstProcEntered   = 1
	qinstProcCounted   = 2
	qinstProcProbed    = 3
	qinstTwinListed    = 536870912
	qinstFlagSmall     = 512
	qinstFlagSummed    = 2048
	qinstFlagUnseen    = 4096
	qinstFlagPolls     = 8192
	qinstFlagTimed     = 16384
	qinstFlagServes    = 32768
	qinstFlagAsks      = 65536
	qinstFlagPaced     = 131072
	qinstFlagFills     = 262144
	qinstFlagChained   = 524288
	qinstFlagStrides   = 1048576
	qinstFlagNeighbors = 2097152
	qinstFlagTwice     = 1024
	qinstUnitWord      = 2147483648
	qinstLoopEnd       = 281474976710656
	qinstNoTrips       = 18446744073709551615
	qinstAddressBits   = 48
	qinstUncounted     = 9223372036854775808
	// "instRing"
	qinstRingMagic   = 7453010236206706281
	qinstRingVersion = 9
	// bytes of the head
	qinstRingPage        = 4096
	qinstRingSharedPage  = 2147483648
	qinstLedgerEarly     = 65536
	qinstRingWordMagic   = 0
	qinstRingWordVersion = 1
	qinstRingWordPID     = 2
	// identity of the stream that the program wrote
	qinstRingWordStream = 3
	// address at which the program saw the first event buffer
	qinstRingWordChunkBase = 4
	// offset of the first event buffer
	qinstRingWordChunkAt = 5
	// bytes
	qinstRingWordChunkSize = 6
	// bytes of a buffer's head; events follow
	qinstRingWordChunkHead = 7
	// how many there may be so far
	qinstRingWordChunks = 8
	// offset of the first block
	qinstRingWordBlockAt = 9
	// bytes from one block to the next
	qinstRingWordBlockSize = 10
	// how many there are
	qinstRingWordBlocks      = 11
	qinstRingWordDirectoryAt = 12
	qinstRingWordPageAt      = 13
	// bytes of it
	qinstRingWordPageSize = 14
	// how many there may be so far
	qinstRingWordPages = 15
	// how many points are registered
	qinstRingWordPoints = 16
	// hits of points before their package was registered
	qinstRingWordEarly = 17
	// events of threads without a block
	qinstRingWordNoBlock = 18
	// offset in a block of a word: address of the next event, 0 if it has no buffer
	qinstRingWordBlockP = 19
	// offset in a block of a word: address of its event buffer
	qinstRingWordBlockChunk = 20
	// the same: events that found no buffer
	qinstRingWordBlockLost = 21
	// the same: entries deeper than the profile stack
	qinstRingWordBlockDeep = 22
	// offset in a buffer of a 32-bit word: bytes of events, 0 while it is filled or free
	qinstRingWordChunkBytes = 23
	// the same: number of the thread
	qinstRingWordChunkNum = 24
	// the same: its id
	qinstRingWordChunkTID = 25
	// offset in a buffer of a 64-bit word: its number in its thread's sequence
	qinstRingWordChunkSeq = 26
	// the same: its time
	qinstRingWordChunkTicks = 27
	// the same: its goroutine
	qinstRingWordChunkG = 28
	// offset in a buffer of a 32-bit word: its processor
	qinstRingWordChunkProc = 29
	// offset of packets that must not be lost, whether they are in the file or not
	qinstRingWordLogAt = 30
	// bytes of them
	qinstRingWordLog = 31
	// number of clock readings so far; the last is in place (turn-1) % 2
	qinstRingWordTurn = 32
	// error number that ended the writing of the file, 0 if none did
	qinstRingWordFailed = 33
	// the same: when, in ticks
	qinstRingWordFailedAt = 34
	// the same: bytes written so far
	qinstRingWordWritten = 35
	qinstRingWordEnd     = 36
	// the same: when, in ticks; 0: not known
	qinstRingWordEndAt    = 37
	qinstRingWordLedgerAt = 38
	// bytes from one ledger to the next
	qinstRingWordLedgerSize = 39
	// how many there are, and 1; what the file lacks of one is 0
	qinstRingWordLedgers = 40
	// 2 x {ticks, monotonic, wall}
	qinstRingWordClock    = 41
	qinstRingWords        = 47
	qinstVersion          = 4
	qinstFirstChecked     = 4
	qinstLastUnchecked    = 2
	qinstOldestVersion    = 1
	qinstMagic            = "SDDF"
	qinstPacketHeader     = 0
	qinstPacketAttribute  = 1
	qinstPacketDescriptor = 2
	qinstPacketData       = 3
	qinstPacketCommand    = 4
	// of other packets; see package pack
	qinstPacketCompressed = 5
	// of a segment
	qinstPacketCheck = 6
	// any value that identifies the stream
	qinstAttrStream = "stream"
	// number of the segment in its stream, from 0
	qinstAttrSegment = "segment"
	// there are compressed packets; the codec
	qinstAttrPacked = "packed"
	qinstPartSuffix = ".more"
	qinstMaxRun     = 4194304
	qinstMaxRatio   = 64
)
