package profile

import "qinst.dev/sddf/spec"

// where is where a goroutine is in the program, as far as its time goes.
type where struct {
	set   setID // of those on whose behalf it runs
	top   int32 // procedure that self time goes to, noProc if none
	inner int32 // innermost procedure of set: another one than top where that is on the path twice
	loop  int32 // innermost loop of top that is open, noProc if none
	group int32 // index in groups.list
}

// places interns the wheres of a trace: time is added up in one place, and given to
// procedures, loops, groups and sets when all of it is known.
type places struct {
	list  []place
	index map[where]int32
}

type place struct {
	where
	usage Usage

	from   int32 // place that it was first entered from, noProc if none
	halves int64 // half events that were written there

	// The last procedure or loop that was entered from here, and where that led to.
	lastProc, lastPlace int32
}

func (ps *places) find(w where) int32 {
	id, ok := ps.index[w]
	if !ok {
		id = int32(len(ps.list))
		ps.index[w] = id
		ps.list = append(ps.list, place{where: w, from: noProc, lastProc: noProc})
	}
	return id
}

// into is the place to which entering a procedure or loop leads.
func (b *builder) into(from, proc int32) int32 {
	if p := &b.places.list[from]; p.lastProc == proc {
		return p.lastPlace
	}
	w := b.places.list[from].where
	set := b.sets.with(w.set, b.groups.procMember(proc))
	if b.t.Points[proc].Kind == spec.PointLoop {
		w.set, w.loop = set, proc
	} else {
		if set != w.set {
			w.set, w.inner = set, proc
		}
		w.top, w.loop = proc, noProc
	}
	id := b.places.find(w)
	if q := &b.places.list[id]; q.from == noProc && id != from {
		q.from = from
	}
	p := &b.places.list[from]
	p.lastProc, p.lastPlace = proc, id
	return id
}

// give adds up what was used in all places.
func (b *builder) give() {
	for i := range b.places.list {
		p := &b.places.list[i]
		b.selfOf(p.top).add(&p.usage)
		b.sets.use(p.set).add(&p.usage)
		b.groupSelf[p.group].add(&p.usage)
		if p.loop != noProc {
			b.self[p.loop].add(&p.usage)
		}
		if p.inner != p.top {
			b.inAgain(&p.where).add(&p.usage)
		}
	}
}

// selfOf is the usage of a procedure, or of none.
func (b *builder) selfOf(proc int32) *Usage {
	if proc == noProc {
		return &b.self[len(b.self)-1]
	}
	return &b.self[proc]
}
