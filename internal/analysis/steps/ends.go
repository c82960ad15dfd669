package steps

import "qinst.dev/internal/trace"

// ends are those of the connections between sockets of the program.
type ends struct {
	at    map[trace.Address]trace.EndID // by what goroutines wait for that read
	of    map[trace.EndID]uint64        // the connection, and which end it is
	by    map[uint64]trace.EndID        // the reverse
	lists map[trace.EndID]*writes
	over  map[trace.EndID]bool // they are closed, but the other one is not: what they wrote may come late
}

// write is a system call that writes.
type write struct {
	step StepID
	at   trace.Time
}

// written is the end of a wait for what another goroutine wrote, that one's call, and how long
// before the end a processor was idle.
type written struct {
	take, give StepID
	idle       trace.Time
}

// mostWrites is how many of the last writes to an end are kept. A wait to read ends with the first
// write after it began, or with one before whose data had not arrived.
const mostWrites = 16

// writes are the last ones, in a ring.
type writes struct {
	last [mostWrites]write
	n    int
}

// add notes an end. A descriptor that is used again is another end: the key that it had, 0: none.
func (x *ends) add(e trace.ConnectionEnd) (was uint64) {
	if x.at == nil {
		x.at, x.of, x.by = map[trace.Address]trace.EndID{}, map[trace.EndID]uint64{}, map[uint64]trace.EndID{}
		x.lists, x.over = map[trace.EndID]*writes{}, map[trace.EndID]bool{}
	}
	if id, ok := x.at[e.Address]; ok {
		was = x.of[id]
		if other, ok := x.by[was^1]; ok && !x.over[other] {
			x.over[id] = true
		} else {
			x.forget(id)
			x.forget(other)
		}
	}
	x.at[e.Address], x.of[e.ID], x.by[e.Key] = e.ID, e.Key, e.ID
	return was
}

func (x *ends) forget(id trace.EndID) {
	if key := x.of[id]; x.by[key] == id {
		delete(x.by, key)
	}
	delete(x.of, id)
	delete(x.lists, id)
	delete(x.over, id)
}

// writes notes a call that writes to an end; 0: it does not.
func (x *ends) writes(to trace.EndID, w write) {
	if _, ok := x.of[to]; !ok {
		return
	}
	list := x.lists[to]
	if list == nil {
		list = &writes{}
		x.lists[to] = list
	}
	list.last[list.n%mostWrites] = w
	list.n++
}

// written is the call that ended a wait to read, which began at a time: what it wrote to the other
// end.
func (x *ends) written(address trace.Address, since trace.Time) (StepID, bool) {
	id, ok := x.at[address]
	if !ok {
		return 0, false
	}
	list := x.lists[x.by[x.of[id]^1]]
	if list == nil {
		return 0, false
	}
	found, ok := write{}, false
	for i := list.n - 1; i >= 0 && i >= list.n-mostWrites; i-- {
		w := list.last[i%mostWrites]
		if found, ok = w, true; w.at < since {
			if i < list.n-1 { // the one after it is the first since then
				found = list.last[(i+1)%mostWrites]
			}
			break
		}
	}
	return found.step, ok
}
