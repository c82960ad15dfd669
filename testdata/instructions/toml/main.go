// Command toml decodes a document of some 400 lines as often as its argument says.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

func document() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `[[server]]
name = "host-%d" # a comment
alias = 'literal\%d'
port = %d
weight = %d.5
since = 2026-01-%02dT07:32:00Z
tags = ["alpha", "beta", "gamma-%d"]
limits = { soft = %d, hard = 1_000_000 }

[server.env]
PATH = "/usr/bin:/bin\t%d"
"quoted key" = true
`, i, i, 8000+i, i, i%28+1, i, 100*i, i)
	}
	return b.String()
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	text, sum := document(), 0
	for range n {
		var into struct {
			Server []struct {
				Name, Alias string
				Port        int
				Weight      float64
				Since       any
				Tags        []string
				Limits      map[string]int
				Env         map[string]any
			}
		}
		if _, err := toml.Decode(text, &into); err != nil {
			panic(err)
		}
		for _, s := range into.Server {
			sum += s.Port + len(s.Tags) + len(s.Env)
		}
	}
	fmt.Println(sum)
}
