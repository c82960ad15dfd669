// Command esbuild minifies a script.
package main

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"field/trial"
)

const text = `
export class Queue {
  constructor(limit) { this.limit = limit; this.items = []; this.waiting = new Map(); }
  push(item, priority = 0) {
    if (this.items.length >= this.limit) throw new Error("full: " + this.limit);
    const index = this.items.findIndex(other => other.priority < priority);
    this.items.splice(index < 0 ? this.items.length : index, 0, { item, priority });
    for (const [name, resolve] of this.waiting) { if (name === item?.name) resolve(item); }
    return this;
  }
  async *drain() { while (this.items.length > 0) { const { item } = this.items.shift(); yield await item; } }
}
`

func main() {
	var b strings.Builder
	for i := 0; i < 60; i++ {
		b.WriteString(strings.ReplaceAll(text, "Queue", "Queue"+string(rune('a'+i%26))+strings.Repeat("x", i/26)))
	}
	source := b.String()
	trial.Main(func(int) {
		r := api.Transform(source, api.TransformOptions{MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Target: api.ES2017})
		if len(r.Errors) > 0 {
			panic(r.Errors[0].Text)
		}
	})
}
