package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A text within its bounds is read as it is, whatever the pieces that it comes in. One without an
// end, or of one line without an end, is refused, with the bound.
func TestBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "",
		"12345678\n12345678\n":               "",
		"\n\n\n12345678":                     "",
		"123456789\n":                        "a line of more than 8 B",
		"1\n123456789":                       "a line of more than 8 B",
		strings.Repeat("1234567\n", 4):       "",
		strings.Repeat("1234567\n", 4) + "1": "more than 32 B",
	} {
		for _, piece := range []int{1, 3, 100} {
			got, err := io.ReadAll(&bounded{from: &pieces{strings.NewReader(text), piece}, total: 32, line: 8})
			if want == "" && (err != nil || string(got) != text) || want != "" &&
				(err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q in pieces of %d: %q, %v, expected %q", text, piece, got, err, want)
			}
		}
	}
}

// pieces reads a few bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// No command keeps a text that does not end.
func TestEndless(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skipf("a system without such a file, of which the end never comes: %v", err)
	}
	for _, args := range [][]string{
		{"doe", "fit", "/dev/zero"}, {"spt", "-report", "/dev/zero"}, {"points", "-diff", "/dev/zero", "."},
		{"convert", "-o", filepath.Join(t.TempDir(), "o"), "/dev/zero"}, {"report", "/dev/zero"}, {"dump", "/dev/zero"},
	} {
		var out, talk bytes.Buffer
		e := newEnv(&out, &talk)
		if status := status(e, dispatch(e, args)); status == 0 || !strings.Contains(talk.String(), "/dev/zero") {
			t.Errorf("%v: status %d, says %q, expected an error", args, status, talk.String())
		}
	}
}
