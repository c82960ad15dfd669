package debug

// In a build with qinst another file stands in place of this one.

func table(int) (text string, base uint32, ok bool) { return "", 0, false }

func point(uint32) (hits, traced, timed uint64, level uint8, rate float64) { return 0, 0, 0, 0, 0 }

func flush() (path string) { return "" }
