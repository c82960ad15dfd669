package main

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\ttext\n":  "plain\ttext\n",
		"µ → 日本 \xff":    "µ → 日本 \xff",
		"\x1b]0;title\a": `\u001b]0;title\u0007`,
		"\x7f\r\u009b2J": `\u007f\u000d\u009b2J`,
		"a\u202eb\u2066": `a\u202eb\u2066`,
		"\x1b":           `\u001b`,
		"":               "",
	} {
		var b bytes.Buffer
		if n, err := (&printable{w: &b}).Write([]byte(text)); n != len(text) || err != nil || b.String() != want {
			t.Errorf("%q: wrote %d bytes, %v, as %q, expected %q", text, n, err, b.String(), want)
		}
	}
	if n, err := (&printable{w: failing{}}).Write([]byte("x\x1b")); n > 1 || err == nil {
		t.Errorf("wrote %d bytes, %v, expected an error", n, err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

// Text comes in pieces, which may end anywhere: it is as if it came at once.
func TestPrintablePieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.String().Draw(t, "text") + "\n")
		var whole, pieces bytes.Buffer
		_, _ = (&printable{w: &whole}).Write(text)
		p := &printable{w: &pieces}
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "n")
			if m, err := p.Write(text[:n]); m != n || err != nil {
				t.Fatalf("wrote %d bytes of %d: %v", m, n, err)
			}
			text = text[n:]
		}
		for _, r := range whole.String() {
			if harmful(r) {
				t.Fatalf("wrote %q", whole.String())
			}
		}
		if whole.String() != pieces.String() {
			t.Fatalf("wrote %q in pieces, expected %q", pieces.String(), whole.String())
		}
	})
}
