package advice

import (
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
)

// TestMisused: functions of libraries that take much because of how they are used.
func TestMisused(t *testing.T) {
	const calls = 1e4 // of 80 us each
	for _, c := range []struct {
		how   replay.Mechanism
		by    string
		calls uint64
		id    string // "": no conclusion
		text  string
	}{
		{replay.Preparation, "regexp.MustCompile", calls, "prepared-again", "call regexp.MustCompile once and keep the result, instead of again and again in main.f (f.go:9)"},
		{replay.Preparation, "regexp.MustCompile", 5, "", ""},
		{replay.Strings, "runtime.concatstring2", calls, "joined-strings", "append to one strings.Builder or []byte in main.f (f.go:9)"},
		{replay.Strings, "runtime.concatstring2", 100 * calls, "much-allocation", "allocate less in main.f (f.go:9)"},
		{replay.Lookups, "context.(*valueCtx).Value", calls, "context-values", "context.(*valueCtx).Value walks the chain of contexts"},
		{replay.Lookups, "context.(*valueCtx).Value", 1000 * calls, "", ""},
		{replay.StackTraces, "runtime.Callers", calls, "stack-traces", "take fewer stack traces in main.f (f.go:9)"},
		{replay.Panics, "runtime.gopanic", calls, "panics", "return an error from main.f (f.go:9)"},
		{replay.Sorting, "sort.Ints", calls, "", ""},
	} {
		p := &profile.Profile{Wall: 5e8, Busy: 1e9, NPTSum: 5e8, Procs: 2, Parallelism: []int64{0, 0, 5e8},
			Entries: []profile.Entry{{Kind: profile.KindProc, ID: "1", Name: "main.f", File: "f.go", SelfNPT: 4e8, NPT: 5e8,
				SelfBusy: 8e8, Busy: 1e9, BusyAt: []int64{0, 0, 1e9}, Calls: c.calls,
				Doing: []profile.Doing{{How: c.how, By: c.by, Line: 9,
					Part95: profile.Part95{Share: 0.8, In: [2]float64{0.6, 0.9}}}}}}}
		id, text := "", ""
		for _, it := range Of(&Facts{Profile: p}) {
			if !it.Remark {
				id, text = it.ID, it.Text
			}
		}
		if id != c.id || !strings.Contains(text, c.text) {
			t.Errorf("%s, %d calls: found %s, %q, expected %s, %q", c.how, c.calls, id, text, c.id, c.text)
		}
	}
}

// TestFailedUpdates: what an update without a lock allocates is allocated again when it fails, and
// is no cause of its own.
func TestFailedUpdates(t *testing.T) {
	t.Parallel()
	for by, want := range map[string][]string{
		"sync/atomic.(*Pointer[...]).CompareAndSwap": {"contended-atomic"},
		"sync/atomic.(*Int64).Add":                   {"contended-atomic", "much-allocation"},
	} {
		part := profile.Part95{Share: 0.4, In: [2]float64{0.3, 0.5}}
		p := &profile.Profile{Wall: 5e8, Busy: 1e9, NPTSum: 5e8, Procs: 2, Parallelism: []int64{0, 0, 5e8},
			Entries: []profile.Entry{{Kind: profile.KindProc, ID: "1", Name: "main.f", File: "f.go", SelfNPT: 4e8, NPT: 5e8,
				SelfBusy: 8e8, Busy: 1e9, BusyAt: []int64{0, 0, 1e9}, Calls: 9,
				Doing: []profile.Doing{{How: replay.Allocation, By: "runtime.newobject", Line: 9, Part95: part},
					{How: replay.Atomic, By: by, Line: 9, Part95: part}}}}}
		var got []string
		for _, it := range mechanisms(&Facts{Profile: p}) {
			got = append(got, it.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, expected %q", by, got, want)
		}
	}
}

// TestMostOf: what takes most of a procedure's time is named, if it is one function, in any number
// of lines, or one mechanism.
func TestMostOf(t *testing.T) {
	t.Parallel()
	part := func(least float64) profile.Part95 { return profile.Part95{Share: least, In: [2]float64{least, 1}} }
	sum := func(line int, least float64) profile.Callee {
		return profile.Callee{Name: "hash/crc32.Update", Line: line, Part95: part(least)}
	}
	maps := func(least float64) []profile.Doing {
		return []profile.Doing{{How: replay.Maps, Line: 7, Part95: part(least)}}
	}
	for _, c := range []struct {
		e    profile.Entry
		want string
	}{
		{profile.Entry{Callees: []profile.Callee{sum(3, 0.6)}}, " (most of it in hash/crc32.Update, line 3)"},
		{profile.Entry{Callees: []profile.Callee{sum(3, 0.3), sum(4, 0.3)}}, " (most of it in hash/crc32.Update, line 3 and others)"},
		{profile.Entry{Callees: []profile.Callee{sum(3, 0.3)}, Doing: maps(0.3)}, ""},
		{profile.Entry{Callees: []profile.Callee{{Name: "runtime.mapaccess1", Line: 7, Part95: part(0.5)}},
			Doing: maps(0.5)}, " (most of it map operations, line 7)"},
	} {
		if got := mostOf(&c.e); got != c.want {
			t.Errorf("%+v: found %q, expected %q", c.e, got, c.want)
		}
	}
}
