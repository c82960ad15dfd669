package main

import (
	"bytes"
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
