package toolexec

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// withBuildID tells the program its GNU build id, by which other tools find a binary, and makes the
// linker write that one. It is the one that the linker makes of Go's own, unless the user names
// another: so it is known before there is a program, and the program need not look for it. Where
// the C linker decides, or has an option of its own for it, the program has none.
func withBuildID(args []string, goos string) []string {
	buildMode := linkFlag(args, "buildmode")
	if goos != "linux" || slices.Contains([]string{"c-archive", "plugin", "shared"}, buildMode) ||
		strings.Contains(linkFlag(args, "extldflags"), "build-id") {
		return args
	}
	id := linkFlag(args, "B")
	switch id {
	case "none":
		return args
	case "", "gobuildid":
		of := linkFlag(args, "buildid")
		if of == "" {
			return args
		}
		sum := sha256.Sum256([]byte(of))
		sum[0] ^= 0xff // as the linker does
		id = "0x" + hex.EncodeToString(sum[:20])
	}
	more := []string{"-B=" + id, "-X=runtime.qinstBuildID=" + strings.ToLower(strings.TrimPrefix(id, "0x"))}
	// Of equal flags the last one counts. The last argument is no flag.
	return slices.Insert(slices.Clone(args), len(args)-1, more...)
}

// linkFlag is the value of a flag of the linker's, as package flag reads it; "" if there is none.
func linkFlag(args []string, name string) (value string) {
	for i, a := range args {
		switch key, v, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "="); {
		case !strings.HasPrefix(a, "-") || key != name:
		case ok:
			value = v
		case i+1 < len(args):
			value = args[i+1]
		}
	}
	return value
}
