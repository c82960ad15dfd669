package runtime

import "internal/cpu"

// qinstChecks reports whether the processor has the instructions of checksums.
// Context: start.
func qinstChecks() bool { return cpu.ARM64.HasCRC32 }
