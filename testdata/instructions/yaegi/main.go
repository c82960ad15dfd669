// Command yaegi interprets a Go function as often as its argument says: closures call closures.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/traefik/yaegi/interp"
)

const source = `package work

type pair struct{ a, b int }

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func Round(n int) int {
	sum := fib(9)
	list := make([]pair, 0, 20)
	for i := 0; i < 20; i++ {
		list = append(list, pair{i, n % (i + 1)})
	}
	add := func(p pair) { sum += p.a*p.b }
	for _, p := range list {
		if p.b%2 == 0 {
			add(p)
		}
	}
	return sum
}
`

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	i := interp.New(interp.Options{})
	if _, err := i.Eval(source); err != nil {
		panic(err)
	}
	v, err := i.Eval("work.Round")
	if err != nil {
		panic(err)
	}
	round, sum := v.Interface().(func(int) int), 0
	for k := range n {
		sum += round(k)
	}
	fmt.Println(sum)
}
