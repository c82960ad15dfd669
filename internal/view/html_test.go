package view_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/view"
)

// A page in a file has the server's answers and all of its modules, and no name ends its script.
func TestFile(t *testing.T) {
	for name, source := range map[string]*trace.Trace{
		"locks":  kept(t, "locks"),
		"convoy": kept(t, "convoy"),
		"names":  lanestest.Named("main.</script><script>alert(1)</script>\x00\xff").(*trace.Trace),
		"long":   lanestest.Named(strings.Repeat("x", 1<<20)).(*trace.Trace),
	} {
		t.Run(name, func(t *testing.T) {
			v := view.New(source)
			var out bytes.Buffer
			if err := view.WriteHTML(&out, v); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			if n := strings.Count(text, "</script>"); n != 3 {
				t.Errorf("found %d ends of scripts, expected 3", n)
			}
			var answers map[string]json.RawMessage
			inner := element(t, text, `<script type="application/json" id="answers">`)
			if err := json.Unmarshal([]byte(inner), &answers); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"trace", "items", "tracks", "table", "flame", "objects", "requests", "bands", "path",
				"file"} {
				if len(answers[key]) == 0 {
					t.Errorf("found no %s", key)
				}
			}
			var f view.File
			if err := json.Unmarshal(answers["file"], &f); err != nil || f.Tracks == 0 || f.Tracks > f.Of {
				t.Errorf("found %+v: %v", f, err)
			}
			modulesAreThere(t, element(t, text, `<script type="importmap">`))
		})
	}
}

// element is the text of a script.
func element(t *testing.T, text, begin string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, begin)
	inner, _, ended := strings.Cut(rest, "</script>")
	if !found || !ended {
		t.Fatalf("found no %s", begin)
	}
	return inner
}

func modulesAreThere(t *testing.T, importMap string) {
	t.Helper()
	var list struct{ Imports map[string]string }
	if err := json.Unmarshal([]byte(importMap), &list); err != nil {
		t.Fatal(err)
	}
	from := regexp.MustCompile(`(?m)^import .*? from "(.*?)"`)
	for name, address := range list.Imports {
		code, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(address, "data:text/javascript;base64,"))
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range from.FindAllStringSubmatch(string(code), -1) {
			if list.Imports[of[1]] == "" {
				t.Errorf("%s imports %s, which is not there", name, of[1])
			}
		}
	}
	if len(list.Imports) < 10 {
		t.Errorf("found %d modules", len(list.Imports))
	}
}
