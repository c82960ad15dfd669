// Command goldmark converts Markdown to HTML.
package main

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"

	"field/trial"
)

const text = `# A title with *emphasis* and %code%

A paragraph with [a link](https://example.com/a_b) and **strong** words,
which goes on for a second line, and has an autolink: <https://example.com>.

- an item
- another one with %code% in it
  - and one below it

> A quotation with *emphasis*.

    some(code, that, is, indented)

1. first
2. second

---

`

func main() {
	source := []byte(strings.Repeat(strings.ReplaceAll(text, "%", "`"), 40))
	md := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	trial.Main(func(int) {
		var out bytes.Buffer
		if err := md.Convert(source, &out); err != nil {
			panic(err)
		}
	})
}
