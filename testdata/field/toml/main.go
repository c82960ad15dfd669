// Command toml decodes configuration files.
package main

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"field/trial"
)

func main() {
	var b strings.Builder
	for i := 0; i < 60; i++ {
		fmt.Fprintf(&b, "[server.n%d]\nhost = \"host%d.example.com\"\nports = [ %d, 8080, 9090 ]\nratio = 0.%d\nenabled = true\nsince = 1979-05-27T07:32:00Z\n\n", i, i, 1000+i, i)
	}
	text := b.String()
	trial.Main(func(int) {
		var v map[string]any
		if _, err := toml.Decode(text, &v); err != nil {
			panic(err)
		}
	})
}
