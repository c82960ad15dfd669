package advice

import (
	"fmt"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// permits is the time that goroutines have permits of a channel.
type permits struct {
	all   int64            // ns
	waits map[string]int64 // of it for other goroutines, by object
}

// holders finds the waits of goroutines that have a permit, by which o is a semaphore.
func (f *Facts) holders(o *profile.Object) permits {
	h := permits{waits: map[string]int64{}}
	if f.Program == nil {
		return h
	}
	p, takes, gives := f.Program, steps.Receive, steps.Send
	if sends(o) {
		takes, gives = gives, takes
	}
	name := func(id steps.ObjectID) string {
		if at := p.Objects[id].Name; at >= 0 {
			return p.R.T.Points[at].Name
		}
		return ""
	}
	for g := range p.Gs {
		has, last := 0, trace.Time(0)
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if has > 0 {
				h.all += int64(s.At - last)
				if s.Kind == steps.Take && s.Obj != 0 && name(s.Obj) != o.Name {
					h.waits[name(s.Obj)] += int64(s.At-last) - s.Work
				}
			}
			if last = s.At; s.Obj != 0 && name(s.Obj) == o.Name {
				switch s.Op {
				case takes:
					has++
				case gives:
					has = max(0, has-1)
				}
			}
		}
	}
	return h
}

// meanwhile names the object of most of these waits, if they are most of that time.
func (h permits) meanwhile() string {
	for name, ns := range h.waits {
		if part := measure.Ratio(ns, h.all); name != "" && part > waitingHolder {
			return fmt.Sprintf(". Those that have one wait at %s for %.0f %% of that time: if what they wait for needs one, too, let them take theirs after it", name, 100*part)
		}
	}
	return ""
}

// waitingHolder is the share of the time with a permit in which goroutines wait for others, at
// least, if that is what makes permits few. Only one object can have more.
const waitingHolder = 0.5
