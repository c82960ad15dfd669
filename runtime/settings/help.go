package settings

import (
	"fmt"
	"strings"
)

// Item is a setting as QINST has it: name=value, or the name of one without a value.
func Item(name, value string) string {
	if id, ok := Lookup(name); ok && Table[id].Forms == Alone {
		return name
	}
	return name + "=" + value
}

// Check returns an error of one line if a setting of a file is wrong.
func Check(name, value string) error {
	id, ok := Lookup(name)
	if !ok {
		if n := NearestName(name); n != "" {
			return fmt.Errorf("found the setting %q, which does not exist; the nearest is %s", name, n)
		}
		return fmt.Errorf("found the setting %q, expected one of %s", name, Names())
	}
	s := &Table[id]
	if _, ok := s.Parse(value); ok || s.Forms == Alone && value == "" {
		return nil
	}
	return fmt.Errorf("found %s = %q, expected %s%s", name, value, s.Expected, hint(s.Nearest(value)))
}

// CheckRule is Check for a rule about points. understood is the verdict of package ratecontrol on
// its limit.
func CheckRule(points, limit string, understood bool) error {
	expected, nearest := RuleExpected(points, limit, understood)
	if expected == "" {
		return nil
	}
	return fmt.Errorf("found %s = %q, expected %s%s", points, limit, expected, hint(nearest))
}

func hint(nearest string) string {
	if nearest == "" {
		return ""
	}
	return "; the nearest is " + nearest
}

// Names returns the names of all settings, in their order.
func Names() string {
	var list []string
	for i := range Table {
		list = append(list, Table[i].Name)
	}
	return strings.Join(list, ", ")
}

// Help is the text of "qinst help settings".
func Help() string {
	var b strings.Builder
	b.WriteString("QINST in the environment is a list separated by commas: QINST=mode=count,out=x.sddf.\nThe same settings stand in [run] of qinst.toml; QINST wins over it.\n")
	for _, s := range all() {
		fmt.Fprintf(&b, "\n  %s\n", s.form())
		if s.Expected != "" {
			fmt.Fprintf(&b, "        expected: %s\n", s.Expected)
		}
		if s.Default != "" {
			fmt.Fprintf(&b, "        default:  %s\n", s.Default)
		}
		for line := range wrapped(s.Doc, 72) {
			fmt.Fprintf(&b, "        %s\n", line)
		}
	}
	return b.String()
}

// Markdown is the table of docs/guide/settings.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| setting | default | meaning |\n|---|---|---|\n")
	for _, s := range all() {
		value := s.Default
		if value != "" && !strings.HasPrefix(value, "(") {
			value = "`" + value + "`"
		}
		doc := strings.ReplaceAll(s.Doc, "*", `\*`)
		if s.Words != nil || s.Forms&^(Text|Alone) != 0 {
			doc += " Values: " + s.Expected + "."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.form(), value, doc)
	}
	return b.String()
}

// form is the setting as a user writes it.
func (s *Setting) form() string {
	if s.Forms == Alone {
		return s.Name
	}
	return s.Name + "=" + s.Example
}

// all returns the settings, and then the rules.
func all() []*Setting {
	var list []*Setting
	for i := range Table {
		list = append(list, &Table[i])
	}
	for i := range rules {
		list = append(list, &rules[i])
	}
	return list
}

// wrapped are the lines of a text that are at most width bytes long.
func wrapped(text string, width int) func(func(string) bool) {
	return func(yield func(string) bool) {
		line := ""
		for _, word := range strings.Fields(text) {
			if line != "" && len(line)+1+len(word) > width {
				if !yield(line) {
					return
				}
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		if line != "" {
			yield(line)
		}
	}
}
