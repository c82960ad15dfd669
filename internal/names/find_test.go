package names_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
)

var some = []string{
	"main.main", "main.main.func1", "main.parse", "main.(*Cache[...]).Get", "main.(*Cache[...]).mu",
	"example.com/a/server.(*Peer).Flush", "example.com/a/client.(*Peer).Flush", "example.com/a/client.(*Peer).FlushAll",
	"main.main: range 4", "main.\x1bescaped",
	"example.com/a/very/long/path/that/tables/do/not/show.(*WithALongName).AndALongMethod",
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"parse":                              "main.parse",
		"main.Parse":                         "main.parse",
		"Get":                                "main.(*Cache[...]).Get",
		"Cache.Get":                          "main.(*Cache[...]).Get",
		"main.Cache.get":                     "main.(*Cache[...]).Get",
		"(*Cache[...]).Get":                  "main.(*Cache[...]).Get",
		"sync main.(*Cache[...]).mu":         "main.(*Cache[...]).mu",
		"go main.main.func1":                 "main.main.func1",
		"server.(*Peer).Flush":               "example.com/a/server.(*Peer).Flush",
		"range 4":                            "main.main: range 4",
		`main.\x1bescaped`:                   "main.\x1bescaped",
		"...ongName).AndALongMethod":         some[10],
		"  main.main: range 4":               "main.main: range 4",
		"example.com/a/client.(*Peer).Flush": "example.com/a/client.(*Peer).Flush",
	} {
		if got, err := names.Find(text, "procedure", some); got != want {
			t.Errorf("%q means %q (%v), expected %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"(*Peer).Flush": `found "(*Peer).Flush", which may be any of example.com/a/client.(*Peer).Flush, example.com/a/server.(*Peer).Flush; expected more of the name of one procedure`,
		"main.pasre":    `found "main.pasre", expected the name of a procedure, such as main.parse, `,
		"arse":          "such as main.parse, ",
		"":              "expected the name of a procedure",
	} {
		got, err := names.Find(text, "procedure", some)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q means %q (%v), expected an error with %q", text, got, err, want)
		}
	}
	in := []string{"example.com/a/client.(*Peer).run", "sync.Mutex.Lock in example.com/a/client.(*Peer).run"}
	for text, want := range map[string]string{"go client.(*Peer).run": in[0],
		"sync.Mutex.Lock in example.com/a/client.(*Peer).run": in[1],
		"...exLock in example.com/a/client.(*Peer).run":       ""} {
		if got, _ := names.Find(text, "part of the program", in); got != want {
			t.Errorf("%q means %q, expected %q", text, got, want)
		}
	}
	if _, err := names.Find("x", "channel", nil); err == nil ||
		!strings.Contains(err.Error(), "of which the trace has none") {
		t.Errorf("among no names: %v", err)
	}
}

// Every form in which a table may show a name means that name.
func TestFindShown(t *testing.T) {
	for _, name := range some {
		for width := 24; width < 80; width++ {
			if got, err := names.Find(measure.Short(measure.Visible(name), width), "procedure", some); got != name {
				t.Errorf("%q in %d letters, %q, means %q (%v)", name, width, measure.Short(name, width), got, err)
			}
		}
	}
}

func TestChoice(t *testing.T) {
	for text, want := range map[string]string{
		"main.parse":             "main.parse",
		"main.main":              "main.main main.main.func1 main.main: range 4", // an expression
		"main.(*Cache[...]).Get": "main.(*Cache[...]).Get",
		"main.main: range 4":     "main.main: range 4",
		"^main.p|Get$":           "main.parse main.(*Cache[...]).Get",
		"(*Cache[...]).mu":       "main.(*Cache[...]).mu",
		"[.]Get":                 "main.(*Cache[...]).Get",
		"MAIN.PARSE":             "main.parse",
	} {
		c, err := names.Choose(text).In("procedure", some)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, name := range some {
			if c.Matches(name) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q chooses %q, expected %q", text, got, want)
		}
	}
	if _, err := names.Choose("nothing(").In("procedure", some); err == nil {
		t.Error("a text that is no name and no expression chooses something")
	}
}
