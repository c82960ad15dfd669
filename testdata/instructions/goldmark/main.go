// Command goldmark converts a document of some 400 lines as often as its argument says.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/yuin/goldmark"
)

func document() []byte {
	var b bytes.Buffer
	for i := range 30 {
		fmt.Fprintf(&b, `## Section %d: *emphasis* and `+"`code`"+`

A paragraph with a [link](https://example.com/%d "title"), **strong text** and
an image ![alt](a%d.png). It has & entities &amp; <https://example.com>.

- an item with a *word*
- another, [referred][ref]
  1. nested
  2. list %d

> A quotation,
> of two lines.

`+"```go\nfunc f() { return %d }\n```\n"+`
[ref]: https://example.com/ref

`, i, i, i, i, i)
	}
	return b.Bytes()
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	text, sum := document(), 0
	for range n {
		var out bytes.Buffer
		if err := goldmark.Convert(text, &out); err != nil {
			panic(err)
		}
		sum += out.Len()
	}
	fmt.Println(sum)
}
