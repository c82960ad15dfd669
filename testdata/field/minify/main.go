// Command minify makes web pages smaller.
package main

import (
	"io"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/html"

	"field/trial"
)

const text = `
<div class="card wide" id="card">
  <style> .card { margin: 0px 10px 0px 10px; color: #ff0000; background: rgb(255, 255, 255) } .wide > p { font-weight: bold } </style>
  <p style="color: red; padding: 0px">Some <b>bold</b> text, and a <a href="http://example.com/">link</a>.</p>
  <ul> <li>one</li> <li>two</li> </ul>
</div>
`

func main() {
	source := "<!doctype html><html><body>" + strings.Repeat(text, 40) + "</body></html>"
	m := minify.New()
	m.AddFunc("text/html", html.Minify)
	m.AddFunc("text/css", css.Minify)
	trial.Main(func(int) {
		if err := m.Minify("text/html", io.Discard, strings.NewReader(source)); err != nil {
			panic(err)
		}
	})
}
