// Command hcl parses and evaluates configuration files.
package main

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"field/trial"
)

const text = `
service "web" {
  image    = "example.com/web:1.2"
  replicas = 2 + 3 * 4
  env      = { HOST = "localhost", PORT = 8080, NAME = "web-${1 + 2}" }
  check {
    path     = "/health"
    interval = 10
    codes    = [200, 201, 204]
  }
}
`

func main() {
	source := []byte(strings.Repeat(text, 30))
	trial.Main(func(int) {
		file, diags := hclsyntax.ParseConfig(source, "trial.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			panic(diags.Error())
		}
		for _, block := range file.Body.(*hclsyntax.Body).Blocks {
			for _, attribute := range block.Body.Attributes {
				if _, diags := attribute.Expr.Value(nil); diags.HasErrors() {
					panic(diags.Error())
				}
			}
		}
	})
}
