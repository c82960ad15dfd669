package settings

import (
	"os"
	"strings"
	"testing"
)

// TestTable checks that every setting says all that it should, and that its example and
// its default are values.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range Table {
		s := &Table[i]
		if s.Name == "" || seen[s.Name] || IsRule(s.Name) {
			t.Errorf("setting %d has the name %q", i, s.Name)
		}
		seen[s.Name] = true
		if s.Expected == "" || s.Default == "" || s.Doc == "" || s.Words == nil && s.Forms == 0 {
			t.Errorf("%s says too little: %+v", s.Name, s)
		}
		if got, ok := Lookup(s.Name); !ok || got != ID(i) {
			t.Errorf("Lookup(%q) = %d, %v", s.Name, got, ok)
		}
		if s.Forms == Alone {
			continue
		}
		for _, v := range append([]string{s.Example, s.Default}, s.Words...) {
			if _, ok := s.Parse(v); !ok && !strings.HasPrefix(v, "(") {
				t.Errorf("%s: its own value %q is not understood", s.Name, v)
			}
		}
		if s.Forms&Text == 0 {
			if _, ok := s.Parse("nonsense"); ok {
				t.Errorf("%s=nonsense is understood", s.Name)
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("found %d settings", len(seen))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id   ID
		text string
		want Value
	}{
		{Mode, "trace", Value{Given: "trace", Word: true}},
		{Size, "1GiB", Value{How: Bytes, N: 1 << 30}},
		{Size, "500MB", Value{How: Bytes, N: 5e8}},
		{Size, "0", Value{How: Bytes}},
		{Size, "10MiB/s", Value{How: ByteRate, N: 10 << 20}},
		{Keep, "16MB", Value{How: Bytes, N: 16e6}},
		{Keep, "500ms", Value{How: Period, N: 5e8}},
		{Keep, "1.5s", Value{How: Period, N: 15e8}},
		{Sums, "1e1s", Value{How: Period, N: 1e10}},
		{Sums, "once", Value{Word: true}},
		{Sample, "1000/s", Value{How: Frequency, N: 1e6}},
		{Sample, "1e5/s", Value{How: Frequency, N: 1e4}},
		{Samplers, "8", Value{How: Digit, N: 8}},
		{Budget, "2%", Value{How: Percent, N: 20}},
		{Budget, "0.5%", Value{How: Percent, N: 5}},
		{Budget, "100%", Value{How: Percent, N: 1000}},
		{Extra, "50ns", Value{How: Delay, N: 50}},
		{Extra, "2us", Value{How: Delay, N: 2000}},
		{Memory, "4MiB", Value{How: Bytes, N: 4 << 20}},
		{Out, "", Value{How: Text}},
	} {
		c.want.Given = c.text
		if got, ok := Table[c.id].Parse(c.text); !ok || got != c.want {
			t.Errorf("%s=%s is %+v, %v; want %+v", Table[c.id].Name, c.text, got, ok, c.want)
		}
	}
	for _, c := range []struct {
		id   ID
		text string
	}{
		{Mode, "loud"}, {Mode, ""}, {Size, ""}, {Size, "GiB"}, {Size, "1TiB"}, {Size, "99999999999999999999"},
		{Size, "1/"},
		{Keep, "99ms"}, {Keep, "31KiB"}, {Keep, "10"}, {Sums, "1"}, {Sums, "1e18s"}, {Sums, "1e"},
		{Sample, "0.5/s"}, {Sample, "0/s"}, {Sample, "2e5/s"}, {Sample, "100"}, {Samplers, "0"}, {Samplers, "9"},
		{Samplers, "12"},
		{Budget, "0%"}, {Budget, "101%"}, {Budget, "2"}, {Budget, "0.05%"}, {Budget, ".5%"}, {Budget, "%"},
		{Budget, "1e1%"},
		{Memory, "3MiB"}, {Memory, "2GiB"}, {On, "TERM"}, {Ctl, ""},
	} {
		if got, ok := Table[c.id].Parse(c.text); ok {
			t.Errorf("%s=%s is understood as %+v", Table[c.id].Name, c.text, got)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	found := func(what, text, got, want string) {
		if got != want {
			t.Errorf("%s %q: the nearest is %q, want %q", what, text, got, want)
		}
	}
	for text, want := range map[string]string{"budgett": "budget", "mdoe": "mode", "Out": "out", "limits": "limit",
		"samples": "sample", "sampler": "sample",
		"extension": "extensions", "colour": "", "mode": "", "": "", "x": "", strings.Repeat("mode", 50): ""} {
		found("setting", text, NearestName(text), want)
	}
	for text, want := range map[string]string{"tracee": "trace", "cuont": "count", "of": "off", "loud": "",
		"fligth": "flight"} {
		found("mode", text, Table[Mode].Nearest(text), want)
	}
	for text, want := range map[string]string{"lop": "loop", "process": "", "recod": "record"} {
		found("kind", text, NearestKind(text), want)
	}
	for text, want := range map[string]string{"conut": "count", "1e4/s:tme": "time", "1e4": "", "soon": ""} {
		found("limit", text, NearestLimit(text), want)
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{"main.f": "", "kind:loop": "", "loop:main.f": "", "odd:*": "",
		"kind:odd": "", "kind:lop": "lop", "hold:main.mu": "", "id:0123": "", "hodl:main.mu": "hodl",
		"prok:main.f": "prok", "kind:": ""} {
		kind, unknown := UnknownKind(rule)
		if kind != want || unknown != (want != "" || rule == "kind:") {
			t.Errorf("%s: %q, %v; want %q", rule, kind, unknown, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{Check("budget", "2%"), ""},
		{Check("ctl", ""), ""},
		{Check("ctl", "yes"), `found ctl = "yes", expected ctl without a value`},
		{Check("budgett", "2%"), `found the setting "budgett", which does not exist; the nearest is budget`},
		{Check("colour", "red"), `found the setting "colour", expected one of mode, sample, `},
		{Check("mode", "tracee"), `found mode = "tracee", expected off, count, sample, trace or flight; the nearest is trace`},
		{Check("mode", "loud"), `found mode = "loud", expected off, count, sample, trace or flight`},
		{CheckRule("main.f", "1e4/s", true), ""},
		{CheckRule("mode", "off", true), `found mode = "off", expected points as in main.(*T).* or kind:loop`},
		{CheckRule("kind:lop", "count", true), `found kind:lop = "count", expected ` + KindExpected +
			`; the nearest is loop`},
		{CheckRule("main.f", "conut", false), `found main.f = "conut", expected a rate such as 1e4/s, 1e4/s+500 or 1e4/s:count, or a level: off, count, time or trace, or a delay such as +5us, of a barrier +1ms or +1ms+0ns*3; the nearest is count`},
	} {
		if got := ""; c.err != nil {
			got = c.err.Error()
			if !strings.HasPrefix(got, c.want) || c.want == "" {
				t.Errorf("got %s, want %s", got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("got no error, want %s", c.want)
		}
	}
}

// The table of docs/guide/settings.md stands between two markers.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/guide/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- settings: the table of package settings -->\n", "<!-- end of settings -->\n"
	_, rest, ok := strings.Cut(string(text), begin)
	got, _, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("docs/guide/settings.md: expected a table between %q and %q", begin, end)
	}
	if want := "\n" + Markdown() + "\n"; got != want {
		t.Errorf("docs/guide/settings.md: found\n%s\nexpected\n%s", got, want)
	}
	if !strings.Contains(Help(), "budget=2%") {
		t.Errorf("the help says nothing of the budget:\n%s", Help())
	}
}

// The message about kinds, which the runtime cannot put together, names all of them.
func TestKindExpected(t *testing.T) {
	t.Parallel()
	last := len(Kinds) - 1
	if want := "a kind of points: " + strings.Join(Kinds[:last], ", ") + " or " + Kinds[last]; KindExpected != want {
		t.Errorf("found %q, expected %q", KindExpected, want)
	}
}
