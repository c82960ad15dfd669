// Command goja runs a script.
package main

import (
	"github.com/dop251/goja"

	"field/trial"
)

const script = `
function primes(limit) {
  const found = [];
  for (let n = 2; n < limit; n++) {
    if (found.every(p => n % p !== 0)) found.push(n);
  }
  return found;
}
primes(120).map(p => "p" + p).join(",")
`

func main() {
	program := goja.MustCompile("trial.js", script, true)
	trial.Main(func(int) {
		if _, err := goja.New().RunProgram(program); err != nil {
			panic(err)
		}
	})
}
