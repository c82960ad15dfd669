package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"qinst.dev/internal/trace/tracetest"
)

// Spans arrive where -send says, as soon as the other end takes them, and once.
func TestSend(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/trace.sddf"
	b := tracetest.New(1)
	g := b.Go(0, "main.a")
	b.Start(g, 0)
	b.BeginRegion(g, "region")
	b.At(10).EndRegion(g, "region")
	if err := b.At(20).WriteFile(file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		statuses []int // of the answers
		answer   string
		status   int
		said     string
	}{
		{"up", []int{200}, "", 0, "qinst: sent "},
		{"busy", []int{503, 429, 200}, "", 0, "trying again in 500ms"},
		{"down", []int{503, 503, 503, 503}, "", 1, "found status 503"},
		{"refused", []int{400}, "no such tenant", 1, `found status 400 Bad Request "no such tenant", expected 200`},
		{"part", []int{200}, "\x0a\x06\x08\x01\x12\x02no", 0, "has taken a part only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got [][]byte
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = append(got, body)
				if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
					t.Errorf("found %s with %s", r.URL.Path, r.Header.Get("Content-Type"))
				}
				w.WriteHeader(c.statuses[min(len(got), len(c.statuses))-1])
				fmt.Fprint(w, c.answer)
			}))
			defer server.Close()
			var out, said bytes.Buffer
			e := newEnv(&out, &said)
			if s := status(e, dispatch(e, []string{"export", "-to", "otlp", "-send", server.URL, file})); s != c.status {
				t.Errorf("status %d, expected %d", s, c.status)
			}
			if len(got) != len(c.statuses) || !bytes.Contains(got[len(got)-1], []byte("region")) {
				t.Errorf("found requests %q, expected %d with a region", got, len(c.statuses))
			}
			if !strings.Contains(said.String(), c.said) || out.Len() > 0 {
				t.Errorf("said %q, expected %q; output %q", said.String(), c.said, out.String())
			}
		})
	}
}
