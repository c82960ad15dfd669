package advice

import (
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// name is an object's name, with those that it has elsewhere.
func name(o *profile.Object) string {
	if len(o.Also) == 0 {
		return o.Name
	}
	return fmt.Sprintf("%s (also %s)", o.Name, strings.Join(o.Also, ", "))
}

// was begins what is said of the holds of an object. Those of all objects of one name are added up.
func was(o *profile.Object) string {
	if o.Objects > 1 {
		return fmt.Sprintf("the locks at %s addresses were", measure.Count(int64(o.Objects)))
	}
	return "it was"
}

// pronoun stands for an object's name.
func pronoun(o *profile.Object) string {
	if o.Objects > 1 {
		return "them"
	}
	return "it"
}

// portion is a time of an object as a share of the run. Of several objects it may be more than all
// of that: then it is how many of them on average.
func portion(o *profile.Object, ns, wall int64) string {
	if o.Objects > 1 {
		return fmt.Sprintf("%.2f", measure.Ratio(ns, wall))
	}
	return measure.Percent(ns, wall)
}

// ofRun ends a portion.
func ofRun(o *profile.Object) string {
	if o.Objects > 1 {
		return " at a time"
	}
	return " of the run"
}

// held says how long an object was held.
func held(o *profile.Object, wall int64) string {
	part := portion(o, o.Hold, wall) + ofRun(o)
	i := o.HoldInterval
	switch o.Mark() {
	case "~":
		return fmt.Sprintf("about %s (%s; between %s and %s)", measure.Time(o.Hold), part, portion(o, i[0], wall),
			portion(o, i[1], wall))
	case "≥":
		return fmt.Sprintf("%s or more (%s)", part, without(o))
	}
	return fmt.Sprintf("%s (%s)", measure.Time(o.Hold), part)
}

// unknown says that no hold is known, and why.
func unknown(o *profile.Object) string {
	if o.Ops == 0 {
		return "no probe sees how long it is held"
	}
	return "its hold is not known: " + without(o)
}

// usedTimes is the number of operations on an object in words, or of groups of so many of them.
func usedTimes(o *profile.Object, each uint64) string {
	n := o.Used()
	return n.Mark() + measure.Count(n.Shown()/each)
}

// without says what the holds lack that are known.
func without(o *profile.Object) string {
	switch {
	case o.Partly:
		return "some operations on it have no probe"
	case o.Degraded == 0:
		return "no operation gave it back"
	}
	return measure.Percent(int64(o.Degraded), int64(o.Ops)) + " of its operations were only counted"
}

// waiting names the function with most of the waits for an object. Without stacks it is the
// procedure that they are charged to, which may have started the waiting goroutines.
func waiting(p *profile.Profile, o *profile.Object) string {
	who, most := longestWait(p, o.Name)
	if len(o.WaitedIn) > 0 {
		who, most = o.WaitedIn[0].Reason, o.WaitedIn[0].Time
	}
	if who == "" {
		return ""
	}
	return fmt.Sprintf("; %s of the waits were in %s", measure.Percent(most, o.Wait), who)
}
