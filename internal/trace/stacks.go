package trace

import (
	"strings"
)

// stoppedIn reports whether a wait's stack is that of a goroutine that did not park itself: the
// runtime stopped it, in the middle of what it did. Files of older programs have another wait's
// reason and object there.
func (t *Program) stoppedIn(stack StackID) bool {
	if int(stack) >= len(t.Stacks) || len(t.Stacks[stack]) == 0 {
		return false
	}
	f := &t.Stacks[stack][0]
	dir := f.File[:max(0, strings.LastIndexByte(f.File, '/'))]
	return strings.HasPrefix(f.Function, "runtime.asyncPreempt") || // or at the beginning of a function of its own
		f.File != "" && dir != "runtime" && !strings.HasSuffix(dir, "/runtime")
}
