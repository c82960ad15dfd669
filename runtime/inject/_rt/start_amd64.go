package runtime

import "internal/cpu"

// qinstChecks reports whether the processor has the instructions of checksums.
// Context: start.
func qinstChecks() bool { return cpu.X86.HasSSE42 && cpu.X86.HasPCLMULQDQ }
