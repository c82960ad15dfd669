// Command tengo runs a script in a virtual machine as often as its argument says: a recursive
// function, a sieve, and a table of words.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/d5/tengo/v2"
)

const script = `
fib := func(n) { return n < 2 ? n : fib(n-1) + fib(n-2) }
sieve := func(n) {
	marks := []
	for i := 0; i < n; i++ { marks = append(marks, true) }
	found := 0
	for i := 2; i < n; i++ {
		if !marks[i] { continue }
		found++
		for j := i * i; j < n; j += i { marks[j] = false }
	}
	return found
}
count := func(n) {
	words := {}
	for i := 0; i < n; i++ {
		key := "word" + i % 7
		words[key] = is_undefined(words[key]) ? 1 : words[key] + 1
	}
	return words["word3"]
}
sum := fib(12) + sieve(120) + count(70)
`

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	compiled, err := tengo.NewScript([]byte(script)).Compile()
	if err != nil {
		panic(err)
	}
	sum := 0
	for range n {
		if err := compiled.Run(); err != nil {
			panic(err)
		}
		sum += compiled.Get("sum").Int()
	}
	fmt.Println(sum)
}
