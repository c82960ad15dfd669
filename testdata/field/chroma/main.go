// Command chroma highlights a Go program.
package main

import (
	"io"
	"strings"

	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"

	"field/trial"
)

const text = `
// sum adds what a channel brings.
func sum(values <-chan int, limit int) (total int, err error) {
	for v := range values {
		if total += v; total > limit {
			return total, fmt.Errorf("sum: found %d, expected at most %d", total, limit)
		}
	}
	return total, nil
}
`

func main() {
	source := "package main\n" + strings.Repeat(text, 10)
	lexer, style, formatter := lexers.Get("go"), styles.Get("github"), html.New(html.WithClasses(true))
	trial.Main(func(int) {
		tokens, err := lexer.Tokenise(nil, source)
		if err == nil {
			err = formatter.Format(io.Discard, style, tokens)
		}
		if err != nil {
			panic(err)
		}
	})
}
