package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Condition is one under which a change does not pass: that a quantity of head is more than base's
// by more than a limit.
type Condition struct {
	Quantity string // wall, cpu, one of a program's counts, or conclusions
	Name     string // of one procedure or object, or the rule of a conclusion; "": all
	Limit    float64
	Percent  bool // the limit is a part of base's

	text string
}

// Quantities that are not counts.
const (
	Wall        = "wall"
	CPU         = "cpu"
	Conclusions = "conclusions"
)

// Allocs are the objects that a program allocates from its heap. The runtime and its goroutines
// allocate a few more or less in each run: it is a range.
const Allocs = "allocs"

// ConditionExpected describes conditions to users.
const ConditionExpected = "a quantity, > and a limit: wall>+5%, cpu>+5%, allocs>+1%, calls>+1%, calls:main.parse>+0, " +
	"locks:NAME>+0, channels:NAME>+0, sync:NAME>+0, goroutines:NAME>+0, or conclusions>0"

var conditionForm = regexp.MustCompile(`^([a-z]+)(?::(.+))?>\+?([0-9]+(?:\.[0-9]+)?)(%?)$`)

// ParseCondition reads a condition: QUANTITY>LIMIT or QUANTITY:NAME>LIMIT.
func ParseCondition(text string) (Condition, error) {
	m := conditionForm.FindStringSubmatch(text)
	if m == nil {
		return Condition{}, fmt.Errorf("found %q, expected %s", text, ConditionExpected)
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return Condition{}, fmt.Errorf("found %q, expected a number as its limit", text)
	}
	c := Condition{Quantity: m[1], Name: m[2], Limit: limit, Percent: m[4] != "", text: text}
	switch {
	case (c.isTime() || c.Quantity == Allocs) && c.Name != "":
		return c, fmt.Errorf("found %q, expected %s of the whole program, such as %[2]s>+5%%", text, c.Quantity)
	case c.isTime() && !c.Percent:
		return c, fmt.Errorf("found %q, expected a limit in percent, such as %s>+5%%", text, c.Quantity)
	case c.Quantity == Conclusions && c.Percent:
		return c, fmt.Errorf("found %q, expected a number of conclusions, such as conclusions>0", text)
	case !c.isTime() && c.Quantity != Conclusions && c.Quantity != Allocs && !slices.Contains(kinds, c.Quantity):
		return c, fmt.Errorf("found %q, expected %s", text, ConditionExpected)
	}
	return c, nil
}

func (c Condition) isTime() bool { return c.Quantity == Wall || c.Quantity == CPU }

// String is the condition as it was written.
func (c Condition) String() string { return c.text }

// id is that of the count that the condition is about.
func (c Condition) id() string {
	return strings.TrimSuffix(c.Quantity+":"+c.Name, ":")
}

// exceeds reports whether head is more than base by more than the limit.
func (c Condition) exceeds(base, head float64) bool {
	if c.Percent {
		return head > base*(1+c.Limit/100)
	}
	return head > base+c.Limit
}
