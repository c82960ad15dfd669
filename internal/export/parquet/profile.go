package parquet

import (
	"io"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// Entry is a row of the table entries. Times of its own have names with self; the others are on its
// behalf: with all that it called and started.
type Entry struct {
	Kind        string `parquet:"kind,dict"`
	ID          string `parquet:"id"` // the same in every run of the same source
	Name        string `parquet:"name"`
	File        string `parquet:"file,dict"`
	Line        int32  `parquet:"line"`
	Calls       uint64 `parquet:"calls"`
	SelfNPT     int64  `parquet:"self_npt_ns"`
	NPT         int64  `parquet:"npt_ns"`
	SelfBusy    int64  `parquet:"self_busy_ns"`
	Busy        int64  `parquet:"busy_ns"`
	SelfBlocked int64  `parquet:"self_blocked_ns"`
	Blocked     int64  `parquet:"blocked_ns"`
	SelfReady   int64  `parquet:"self_ready_ns"`
	Ready       int64  `parquet:"ready_ns"`
	Estimate    bool   `parquet:"estimate"` // samples divided the time
}

// Object is a row of the table objects.
type Object struct {
	Name    string `parquet:"name"`
	Kind    string `parquet:"kind,dict"` // "": not known
	File    string `parquet:"file,dict"`
	Line    int32  `parquet:"line"`
	Objects int64  `parquet:"objects"` // addresses
	Ops     uint64 `parquet:"ops"`
	Waits   int64  `parquet:"waits"`
	Wait    int64  `parquet:"wait_ns"`
	Worst   int64  `parquet:"worst_wait_ns"`
	Ready   int64  `parquet:"ready_after_ns"` // from the ends of the waits until the goroutines ran
	Queue   int64  `parquet:"max_queue"`
	Holds   int64  `parquet:"holds"` // of a lock
	Hold    int64  `parquet:"hold_ns"`
	Longest int64  `parquet:"longest_hold_ns"`
}

// Stack is a row of the table stacks. The first row has the time in which no processor was busy.
type Stack struct {
	Path    []string `parquet:"path,list"` // outermost procedure first, through goroutines to their creators
	NPT     int64    `parquet:"npt_ns"`
	Busy    int64    `parquet:"busy_ns"`
	Spin    int64    `parquet:"spin_ns"`
	Blocked int64    `parquet:"blocked_ns"`
	Ready   int64    `parquet:"ready_ns"`
	Syscall int64    `parquet:"syscall_ns"`
	Off     int64    `parquet:"off_cpu_ns"`
}

// idle is the path of the time in which no processor was busy.
const idle = "[no processor busy]"

// ofProfile is a table of a profile's.
func ofProfile(write func(io.Writer, *profile.Profile) error) Write {
	return func(to io.Writer, source trace.Source) (lanes.Left, trace.Losses, error) {
		p, err := profile.New(source)
		if err != nil {
			return lanes.Left{}, trace.Losses{}, err
		}
		return lanes.Left{}, p.Losses, write(to, p)
	}
}

func entries(to io.Writer, p *profile.Profile) error {
	t := newTable[Entry](to)
	for i := range p.Entries {
		e := &p.Entries[i]
		t.add(Entry{e.Kind, text(e.ID), text(e.Name), text(e.File), int32(e.Line), e.Calls, e.SelfNPT, e.NPT,
			e.SelfBusy, e.Busy, e.SelfBlocked, e.Blocked, e.SelfReady, e.Ready, e.SelfNPTs != nil || e.NPTs != nil})
	}
	return t.close()
}

func objects(to io.Writer, p *profile.Profile) error {
	t := newTable[Object](to)
	for i := range p.Objects {
		o := &p.Objects[i]
		t.add(Object{text(o.Name), o.Kind, text(o.File), int32(o.Line), int64(o.Objects), o.Ops, o.Waits, o.Wait,
			o.Worst, o.Ready, int64(o.Queue), o.Holds, o.Hold, o.Longest})
	}
	return t.close()
}

func stacks(to io.Writer, p *profile.Profile) error {
	t := newTable[Stack](to)
	t.add(Stack{Path: []string{idle}, NPT: p.Idle})
	for st := range p.Stacks() {
		path := make([]string, len(st.Frames))
		for i := range st.Frames {
			path[len(path)-1-i] = text(st.Frames[i].Name)
		}
		t.add(Stack{path, st.NPT, st.Busy, st.Spin, st.Blocked, st.Ready, st.Syscall, st.Off})
	}
	return t.close()
}
