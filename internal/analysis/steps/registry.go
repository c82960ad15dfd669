package steps

import (
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// objects are those of the program, by address.
type objects struct {
	p  *Program
	r  *replay.Replay
	by map[trace.Address]ObjectID
	// places where goroutines sleep, by stack, 0: no pace is kept there; nil: not looked for
	paces map[trace.StackID]ObjectID
	paced map[string]ObjectID // functions that keep a pace
}

// pace is the place of a stack, if goroutines sleep there until a time of the clock; 0: they do
// not.
func (x *objects) pace(stack trace.StackID) ObjectID {
	if x.paces == nil {
		x.paces, x.paced = map[trace.StackID]ObjectID{}, map[string]ObjectID{}
		for i := range x.r.T.Points {
			if p := &x.r.T.Points[i]; p.Flags&spec.FlagPaced != 0 {
				x.paced[p.Name] = 0
			}
		}
	}
	id, ok := x.paces[stack]
	if ok || len(x.paced) == 0 || int(stack) >= len(x.r.T.Stacks) {
		return id
	}
	f := x.r.Names.Own(stack)
	if id, ok = x.paced[f.Function]; ok && id == 0 {
		id = ObjectID(len(x.p.Objects))
		x.p.Objects = append(x.p.Objects, Object{Name: trace.NoPoint, Cap: -1, seen: seen{paces: true, unfit: true}})
		x.paced[f.Function] = id
	}
	x.paces[stack] = id
	return id
}

// of is the number of an object of the replay, 0 for none.
func (x *objects) of(ob *replay.Object) ObjectID {
	if ob == nil {
		return 0
	}
	id := x.at(ob.Address)
	if ob.Partly || ob.Unseen {
		x.p.Objects[id].seen.unfit = true
	}
	return id
}

// at is the number of the object at an address.
func (x *objects) at(a trace.Address) ObjectID {
	id, ok := x.by[a]
	if !ok {
		id = x.add(a)
		x.p.Objects[id].Cap = -1
	}
	return id
}

func (x *objects) add(a trace.Address) ObjectID {
	id := ObjectID(len(x.p.Objects))
	x.by[a] = id
	x.p.Objects = append(x.p.Objects, Object{Address: a, Name: trace.NoPoint})
	return id
}

// made notes the capacity of a channel, which the trace tells at the first operation that sends or
// receives: of a new one, unless a goroutine waits for it already, or it has only been closed.
func (x *objects) made(a trace.Address, capacity int) {
	id, ok := x.by[a]
	o := &x.p.Objects[id]
	if !ok || !o.onlyClosed() && (o.Name != trace.NoPoint || o.seen.unfit || o.seen.silent) {
		id = x.add(a)
	}
	x.holds(id, capacity)
}

// holds notes the capacity of an object.
func (x *objects) holds(id ObjectID, capacity int) {
	o := &x.p.Objects[id]
	o.Cap, o.seen.cap = capacity, true
}

// unseen records that no operation followed a step with an object.
func (x *objects) unseen(s StepID, id ObjectID) {
	if s != 0 {
		x.p.Objects[id].seen.missed++
	}
}

// silent records that a step ended a wait, and no operation was seen that did.
func (x *objects) silent(s StepID, id ObjectID) {
	if s != 0 {
		x.p.Objects[id].seen.silent = true
	}
}

// finish names objects, and decides for each whether its operations are complete.
func (x *objects) finish() {
	for i := range x.p.Objects {
		o := &x.p.Objects[i]
		x.name(o)
		o.Held = o.held()
		o.Free = i > 0 && o.complete()
		o.Ticks = o.seen.paces || o.Name != trace.NoPoint && ticker(x.r.T, o.Name) && o.ops[Send] == 0
		if o.seen.full && !o.seen.cap {
			o.Cap = o.seen.queue
		}
	}
}

// ticker reports whether an operation is one on a [time.Ticker]'s channel.
func ticker(t *trace.Tables, point trace.PointID) bool {
	return strings.HasPrefix(t.Points[point].Name, "time.(*Ticker).C")
}

// name gives an object the name that profiles have for it: of several that goroutines use, that of
// its declaration.
func (x *objects) name(o *Object) {
	ob := x.r.Object(o.Address)
	if ob == nil || o.Name == trace.NoPoint {
		return
	}
	if x.r.Names.Among(ob.Same, o.Name) {
		o.Name, o.Also = x.r.BestPoint(ob), slices.Clone(ob.Same)
	} else if best := x.r.BestPoint(ob); x.r.T.Points[o.Name].Flags&spec.FlagWeakName != 0 && best != o.Name {
		o.Name, o.Also = best, []trace.PointID{best, o.Name}
	}
}
