// Command expr compiles and evaluates expressions.
package main

import (
	"github.com/expr-lang/expr"

	"field/trial"
)

const text = `filter(map(1..40, {# * rate}), {# % 3 != 0 and # > limit}) | sum() > 100 ? upper(name) + "!" : trim(name)`

func main() {
	trial.Main(func(item int) {
		env := map[string]any{"rate": item%7 + 1, "limit": 12, "name": " trial "}
		for i := 0; i < 10; i++ {
			program, err := expr.Compile(text, expr.Env(env))
			if err == nil {
				_, err = expr.Run(program, env)
			}
			if err != nil {
				panic(err)
			}
		}
	})
}
