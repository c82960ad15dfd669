package points

import "testing"

// A name of a list is a symbol, its name, or that without the first parts of the package's path.
func TestListed(t *testing.T) {
	for symbol, want := range map[string]bool{
		"example.com/app/lex.(*Lexer).next":   true,
		"lex.(*Lexer).next":                   true,
		"example.com/app/flex.(*Lexer).next":  false,
		"example.com/app/lex.(*Lexer).nextTo": false,
		"example.com/v2%2e1.f":                true,
		"example.com/v2.f":                    false,
	} {
		if got := listed([]string{"lex.(*Lexer).next", "v2.1.f"}, symbol); got != want {
			t.Errorf("%s: %v, expected %v", symbol, got, want)
		}
	}
}
