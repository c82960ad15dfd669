package main

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// printable is a writer of text for people. Names come from traces, which any program may have
// written: a name may have characters that move the cursor, change the title of the window, or turn
// the direction of the text after them. Such characters are written as \u and their code, which is
// right in JSON, too.
type printable struct {
	w    io.Writer
	half []byte // of a character, which the next call completes
}

func (p *printable) Write(text []byte) (int, error) {
	given, old := len(text), len(p.half)
	text = append(p.half, text...)
	p.half = nil
	plain := 0 // up to here text is written, or quoted
	for i := 0; i < len(text); {
		if !utf8.FullRune(text[i:]) {
			p.half = append(p.half, text[i:]...)
			text = text[:i]
			break
		}
		r, n := utf8.DecodeRune(text[i:])
		if harmful(r) {
			if _, err := p.w.Write(text[plain:i]); err != nil {
				return max(plain-old, 0), err
			}
			if _, err := fmt.Fprintf(p.w, `\u%04x`, r); err != nil {
				return max(i-old, 0), err
			}
			plain = i + n
		}
		i += n
	}
	if _, err := p.w.Write(text[plain:]); err != nil {
		return max(plain-old, 0), err
	}
	return given, nil
}

// harmful reports whether a terminal may do something else than to show a character.
func harmful(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r))
}
