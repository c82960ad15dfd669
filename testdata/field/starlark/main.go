// Command starlark runs a script.
package main

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"field/trial"
)

const script = `
def collatz(n):
    steps = 0
    for _ in range(1000):
        if n == 1:
            break
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

def main():
    table = {}
    for i in range(1, 40):
        table.setdefault(collatz(i), []).append("%d" % i)
    return sorted(table.items())

result = main()
`

func main() {
	trial.Main(func(int) {
		thread := &starlark.Thread{Name: "trial"}
		if _, err := starlark.ExecFileOptions(&syntax.FileOptions{}, thread, "trial.star", script, nil); err != nil {
			panic(err)
		}
	})
}
