package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server's next seconds are shown as a file is, and one without them is said to have none.
func TestViewOfServer(t *testing.T) {
	trace, err := os.ReadFile("../../testdata/kept/locks.sddf")
	if err != nil {
		t.Fatal(err)
	}
	asked := ""
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/qinst/trace", func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		_, _ = w.Write(trace)
	})
	srv, other := httptest.NewServer(mux), httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	defer other.Close()

	out := filepath.Join(t.TempDir(), "page.html")
	var page, talk bytes.Buffer
	err = dispatch(newEnv(&page, &talk), []string{"view", "-html", out, srv.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(html), "main.(*server).hold") || asked != "seconds=5" {
		t.Errorf("asked for %q, found a page of %d bytes: %v", asked, len(html), err)
	}
	err = dispatch(newEnv(&page, &talk), []string{"view", "-html", out, other.Listener.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "404") || !strings.Contains(err.Error(), "extensions/debug") {
		t.Errorf("found %v", err)
	}
}

// A process that does not record is said not to.
func TestViewOfProcess(t *testing.T) {
	var page, talk bytes.Buffer
	err := dispatch(newEnv(&page, &talk), []string{"view", "-html", "page.html", "4294967295"})
	if err == nil || !strings.Contains(err.Error(), "found -html") {
		t.Errorf("found %v", err)
	}
	err = dispatch(newEnv(&page, &talk), []string{"view", "-n", "4294967295"})
	if err == nil || !strings.Contains(err.Error(), "has no trace open, expected") {
		t.Errorf("found %v", err)
	}
}

// The file of an experiment is shown with a trace or alone, in any order; others are said not to be
// one.
func TestViewExperiment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const tried, recorded = "../../internal/view/testdata/convoy.spt.json", "../../testdata/kept/convoy.sddf"
	nonsense := filepath.Join(dir, "x.json")
	if err := os.WriteFile(nonsense, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		args []string
		want string // in the page, or the error
		ok   bool
	}{
		{[]string{tried}, `"alone":true`, true},
		{[]string{recorded, tried}, `"alone":false`, true},
		{[]string{tried, recorded, recorded}, `"compared":`, true},
		{[]string{tried, tried}, "expected one", false},
		{[]string{tried, "localhost:1"}, "beside a program that runs", false},
		{[]string{"-live", recorded, tried}, "beside a program that runs", false},
		{[]string{recorded, nonsense}, "found JSON with the keys a, expected results of an experiment", false},
	} {
		out := filepath.Join(dir, fmt.Sprint(i, ".html"))
		err := dispatch(newEnv(io.Discard, io.Discard), append([]string{"view", "-html", out}, c.args...))
		if c.ok != (err == nil) {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		text := fmt.Sprint(err)
		if c.ok {
			page, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			text = string(page)
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%v: found %.300s, expected %s", c.args, text, c.want)
		}
	}
}
