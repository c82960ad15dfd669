// Package firefox writes a profile for the Firefox Profiler, profiler.firefox.com: JSON in its
// processed format, version 60. Later versions of the page convert it.
//
//	kind of time           a process: npt, busy, spin, blocked, ready, syscall, off-CPU
//	a start function       a thread of it: all goroutines that were started with the function
//	a call path            a stack; paths lead through goroutines to their creators
//	its own time           a sample of type tracing-ms, with the time as its weight
//	a procedure            a function, with file and first line; frames have the line of the loop
//	no processor was busy  a thread "[no processor busy]" of the process npt
//
// Lost are the order in time, waits and holds one by one, loops, and names of objects: the profile
// is a sum over the run. Samples stand one after the other, so that the time axis shows shares, and
// so there are no markers, whose times are those of the run.
package firefox

import (
	"encoding/json"
	"io"

	"qinst.dev/internal/analysis/profile"
)

// idle is the time in which no processor was busy.
const idle = "[no processor busy]"

// Write writes the stacks of a profile of a run that began at a time, in ns since 1970.
func Write(to io.Writer, p *profile.Profile, began int64) error {
	t, of := newTables(), make([]threads, len(profile.StackTimes))
	for st := range p.Stacks() {
		name, stack := t.path(st.Frames)
		for i, kind := range profile.StackTimes {
			of[i].add(name, stack, kind.Of(&st))
		}
	}
	_, stack := t.path([]profile.Frame{{Name: idle}})
	of[0].add(idle, stack, p.Idle)
	f := file{Meta: newMeta(p.Program, began), Libs: []string{}, Shared: t.shared, Threads: []*thread{}}
	for i, kind := range profile.StackTimes {
		for _, th := range of[i].list {
			th.TID, th.PID, th.ProcessName = len(f.Threads), kind.Name, kind.Name
			f.Threads = append(f.Threads, th)
			if i == 0 {
				f.Meta.Visible = append(f.Meta.Visible, th.TID)
			}
		}
	}
	return json.NewEncoder(to).Encode(f)
}

// threads are those of a process, in the order of their first samples.
type threads struct {
	list   []*thread
	byName map[string]*thread
}

func (l *threads) add(name string, stack int, ns int64) {
	if ns == 0 {
		return
	}
	th := l.byName[name]
	if th == nil {
		if l.byName == nil {
			l.byName = map[string]*thread{}
		}
		th = newThread(name)
		l.byName[name] = th
		l.list = append(l.list, th)
	}
	s := &th.Samples
	s.Stack, s.Time, s.Weight = append(s.Stack, stack), append(s.Time, ms(th.sum)), append(s.Weight, ms(ns))
	s.Length++
	th.sum += ns
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }
