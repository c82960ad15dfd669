package spec

// The ring is the memory that the threads of an observed program record into: a file, so that the
// recorded data outlives a program that is killed. Its first page is 64-bit words of the machine's
// order, which describe the layout. The program holds an exclusive lock (flock) on the file as long
// as it lives.
const (
	RingMagic   = 0x676e695274736e69 // "instRing"
	RingVersion = 9

	RingPage = 4096 // bytes of the head

	RingSharedPage = 1 << 31
)

// LedgerEarly is how many points of one package may be counted in line: a ledger has that many
// slots for packages that are not registered.
const LedgerEarly = 1 << 16

// The words of a ring's head. Offsets are in the file unless stated otherwise.
const (
	RingWordMagic = iota
	RingWordVersion
	RingWordPID
	RingWordStream    // identity of the stream that the program wrote
	RingWordChunkBase // address at which the program saw the first event buffer
	RingWordChunkAt   // offset of the first event buffer
	RingWordChunkSize // bytes
	RingWordChunkHead // bytes of a buffer's head; events follow
	RingWordChunks    // how many there may be so far
	RingWordBlockAt   // offset of the first block
	RingWordBlockSize // bytes from one block to the next
	RingWordBlocks    // how many there are
	// offset of the directory: for each page of counters a 32-bit word, the number of its first
	// point in pages, and 1; with RingSharedPage if threads share it; 0: the page is free
	RingWordDirectoryAt
	// offset of the first page of counters: {hits u64, traced u32, quota i32}; in a shared one
	// traced and quota are the number of events that extensions dropped
	RingWordPageAt
	RingWordPageSize   // bytes of it
	RingWordPages      // how many there may be so far
	RingWordPoints     // how many points are registered
	RingWordEarly      // hits of points before their package was registered
	RingWordNoBlock    // events of threads without a block
	RingWordBlockP     // offset in a block of a word: address of the next event, 0 if it has no buffer
	RingWordBlockChunk // offset in a block of a word: address of its event buffer
	RingWordBlockLost  // the same: events that found no buffer
	RingWordBlockDeep  // the same: entries deeper than the profile stack
	RingWordChunkBytes // offset in a buffer of a 32-bit word: bytes of events, 0 while it is filled or free
	RingWordChunkNum   // the same: number of the thread
	RingWordChunkTID   // the same: its id
	RingWordChunkSeq   // offset in a buffer of a 64-bit word: its number in its thread's sequence
	RingWordChunkTicks // the same: its time
	RingWordChunkG     // the same: its goroutine
	RingWordChunkProc  // offset in a buffer of a 32-bit word: its processor
	RingWordLogAt      // offset of packets that must not be lost, whether they are in the file or not
	RingWordLog        // bytes of them
	RingWordTurn       // number of clock readings so far; the last is in place (turn-1) % 2
	RingWordFailed     // error number that ended the writing of the file, 0 if none did
	RingWordFailedAt   // the same: when, in ticks
	RingWordWritten    // the same: bytes written so far
	// why and how the program is ending, 0 before: number of the reason in [EndReasons], and 1,
	// above the status of 32 bits
	RingWordEnd
	RingWordEndAt // the same: when, in ticks; 0: not known
	// offset of ledger 0, which there is not: the hits of each point that were counted in line, a
	// 64-bit word for each
	RingWordLedgerAt
	RingWordLedgerSize // bytes from one ledger to the next
	RingWordLedgers    // how many there are, and 1; what the file lacks of one is 0
	RingWordClock      // 2 x {ticks, monotonic, wall}

	RingWords = RingWordClock + 6
)

// EndReasons are the reasons why programs end, as "end" records have them; in a ring a reason is
// its number here.
var EndReasons = [...]string{"exit", "panic or fatal error", "signal", "exec", "end of the host program"}
