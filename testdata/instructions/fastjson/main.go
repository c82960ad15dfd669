// Command fastjson parses a document as often as its argument says, reads some of it, and writes it.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

func document() string {
	var b strings.Builder
	b.WriteString(`{ "items": [`)
	for i := range 40 {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{ "id": %d, "name": "item \"%d\"", "price": %d.25, "tags": ["a", "b\n", "c"], `+
			`"attrs": { "colour": "red", "size": "%d" }, "parent": null, "sold": true }`, i, i, i*3, i)
	}
	b.WriteString("] }")
	return b.String()
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var p fastjson.Parser
	text, sum := document(), 0
	var out []byte
	for range n {
		v, err := p.Parse(text)
		if err != nil {
			panic(err)
		}
		for _, item := range v.GetArray("items") {
			sum += item.GetInt("id") + len(item.GetStringBytes("attrs", "size"))
		}
		out = v.MarshalTo(out[:0])
		sum += len(out)
	}
	fmt.Println(sum)
}
