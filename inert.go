package qinst

// In a build with qinst another file stands in place of this one.

func setName(string)            {}
func beginRegion(string) uint32 { return 0 }
func endRegion(uint32)          {}

func setRate(points, limit string) (nearest string, ok bool) { return "", true }
func snapshot() (path string)                                { return "" }
