package names

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"qinst.dev/internal/measure"
)

// Find returns the one of a list of names that a text means. The text may be a name as any table
// shows it, short or with a mark before it, or its end. The most exact match wins. what is the kind
// of the names, for the error.
func Find(text, what string, list []string) (string, error) {
	for _, means := range manners {
		switch found := meant(text, list, means); len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		default:
			return "", fmt.Errorf("found %q, which may be any of %s; expected more of the name of one %s", text,
				some(found), what)
		}
	}
	if len(list) == 0 {
		return "", fmt.Errorf("found %q, expected the name of a %s, of which the trace has none", text, what)
	}
	return "", fmt.Errorf("found %q, expected the name of a %s, such as %s", text, what, some(nearest(text, list)))
}

// manners are the ways in which a text may mean a name, the most exact one first.
var manners = []func(text, name string) bool{
	func(text, name string) bool { return text == name || text == measure.Visible(name) },
	func(text, name string) bool { return unmarked(text) == measure.Visible(name) },
	func(text, name string) bool {
		return !placed(name, text) && ends(measure.Visible(name), unmarked(text))
	},
	func(text, name string) bool { return ends(measure.Visible(name), unmarked(text)) },
	func(text, name string) bool { return ends(bare(name), bare(unmarked(text))) },
	func(text, name string) bool {
		return ends(strings.ToLower(bare(name)), strings.ToLower(bare(unmarked(text))))
	},
}

// marks stand before names in tables that have more than procedures.
var marks = []string{"go ", "sync ", "in ", "hold:", "loop:"}

// at ends a name that is followed by its place.
var at = regexp.MustCompile(` \([^()/]+:[0-9]+\)$`)

func unmarked(text string) string {
	text = at.ReplaceAllString(strings.TrimSpace(text), "")
	for _, m := range marks {
		if rest, ok := strings.CutPrefix(text, m); ok {
			return rest
		}
	}
	return text
}

// placed reports whether a name is that of a wait, "time.Sleep in main.f", and a text only of the
// procedure in which it is.
func placed(name, text string) bool {
	return strings.Contains(name, " in ") && !strings.Contains(unmarked(text), " in ")
}

// bare is a name without the parts that depend on the declaration of a procedure.
func bare(name string) string { return declared.Replace(name) }

var declared = strings.NewReplacer("(*", "", ")", "", "[...]", "")

// ends reports whether a name ends in a text: anywhere if the text is one that a table has cut,
// else where a part of the name begins.
func ends(name, text string) bool {
	if end, cut := strings.CutPrefix(text, "..."); cut && end != "" {
		return strings.HasSuffix(name, end)
	}
	if text == "" || !strings.HasSuffix(name, text) {
		return false
	}
	before := name[:len(name)-len(text)]
	return before == "" || strings.ContainsAny(before[len(before)-1:], "./: (*")
}

func meant(text string, list []string, means func(text, name string) bool) (found []string) {
	for _, name := range list {
		if means(text, name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// Choice selects names for a flag: an expression, or one name.
type Choice struct {
	text string
	re   *regexp.Regexp // nil: the text is none
	bad  error          // why
	name string         // not "": this name, and names in it
}

// Choose returns the choice of a text. It is an expression until [Choice.In] has the names.
func Choose(text string) *Choice {
	re, err := regexp.Compile(text)
	return &Choice{text: text, re: re, bad: err}
}

// Expression reports whether the text is one.
func (c *Choice) Expression() bool { return c.re != nil }

func (c *Choice) String() string { return c.text }

// Matches reports whether a name is chosen.
func (c *Choice) Matches(name string) bool {
	switch {
	case c.name != "":
		return name == c.name || strings.HasPrefix(name, c.name+": ")
	case c.re == nil:
		return name == c.text
	}
	return c.re.MatchString(name)
}

// Known returns the choice of a name that has the text as another name: as maps those to it.
func (c *Choice) Known(as map[string]string) *Choice {
	if name, ok := as[c.text]; ok {
		return &Choice{text: c.text, name: name}
	}
	return c
}

// In returns the choice among some names. A text that is one of them means that one, if it has
// characters that expressions have: "main.(*T).m" would choose others, or none. Otherwise it is an
// expression if that matches any, or else means one name as [Find] has it.
func (c *Choice) In(what string, list []string) (*Choice, error) {
	if c.name != "" {
		return c, nil
	}
	shows := func(name string) bool { return c.text == name || c.text == measure.Visible(name) }
	if i := slices.IndexFunc(list, shows); i >= 0 && strings.ContainsAny(c.text, `\+*?()|[]{}^$`) {
		return &Choice{text: c.text, name: list[i]}, nil
	}
	if c.re != nil && slices.ContainsFunc(list, c.re.MatchString) {
		return c, nil
	}
	name, err := Find(c.text, what, list)
	if err != nil && c.bad != nil {
		return nil, fmt.Errorf("%w; and it is no regexp: %w", err, c.bad)
	}
	if err != nil {
		return nil, err
	}
	return &Choice{text: c.text, name: name}, nil
}

// most is how many names an error has.
const most = 4

func some(list []string) string {
	shown := make([]string, 0, most)
	for _, name := range list[:min(most, len(list))] {
		shown = append(shown, measure.Visible(name))
	}
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	}
	return strings.Join(shown, ", ")
}

// Nearest is the name that was probably meant by a text that means none, "" if all differ by more
// than a third of its letters.
func Nearest(text string, list []string) string {
	near := nearest(text, list)
	if len(near) == 0 {
		return ""
	}
	a, b := strings.ToLower(bare(unmarked(text))), strings.ToLower(bare(near[0]))
	if far := min(distance(a, b), distance(a, last(b))); 3*far > len(a) {
		return ""
	}
	return near[0]
}

// nearest are the names that are least unlike a text.
func nearest(text string, list []string) []string {
	type near struct {
		name string
		far  int
	}
	text = strings.ToLower(bare(unmarked(text)))
	all := make([]near, 0, len(list))
	for _, name := range list {
		whole := strings.ToLower(bare(name))
		all = append(all, near{name, min(distance(text, whole), 1+distance(text, last(whole)),
			1+distance(last(text), last(whole)))})
	}
	slices.SortStableFunc(all, func(a, b near) int {
		if a.far != b.far {
			return a.far - b.far
		}
		if x, y := strings.HasPrefix(a.name, "main."), strings.HasPrefix(b.name, "main."); x != y { // its user's own
			return map[bool]int{true: -1, false: 1}[x]
		}
		return strings.Compare(a.name, b.name)
	})
	var found []string
	for _, n := range all {
		if len(found) < most && !slices.Contains(found, n.name) {
			found = append(found, n.name)
		}
	}
	return found
}

// last is the last part of a name.
func last(name string) string { return name[strings.LastIndexAny(name, "./")+1:] }

// distance is how many letters have to be put in, taken out or changed to make one text of another.
func distance(a, b string) int {
	const enough = 64
	a, b = a[max(0, len(a)-enough):], b[max(0, len(b)-enough):]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
