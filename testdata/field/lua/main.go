// Command lua runs a script.
package main

import (
	lua "github.com/yuin/gopher-lua"

	"field/trial"
)

const script = `
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 60 do
  words[#words + 1] = string.format("%d:%s", i, tostring(fib(i % 10)))
end
table.sort(words)
return table.concat(words, ",")
`

func main() {
	trial.Main(func(int) {
		l := lua.NewState()
		defer l.Close()
		if err := l.DoString(script); err != nil {
			panic(err)
		}
	})
}
