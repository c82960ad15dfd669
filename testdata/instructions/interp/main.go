// Command interp interprets a small language by walking its syntax trees: a recursive Fibonacci
// function, loops, and a table of words. Its argument says how often the program is run.
package main

import (
	"fmt"
	"os"
	"strconv"
)

const program = `
fn fib(n) { if n < 2 { return n } return fib(n - 1) + fib(n - 2) }
fn gcd(a, b) { while b != 0 { let t = a % b  a = b  b = t } return a }
fn count(limit) {
	let i = 0
	while i < limit {
		add("word" + i % 7, i)
		i = i + 1
	}
	return get("word3")
}
fn main(round) {
	let sum = fib(12) + count(60)
	let i = 1
	while i < 40 { sum = sum + gcd(i * 12, 90 + round % 10)  i = i + 1 }
	return sum
}
`

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	p := parse(program)
	sum := 0
	for i := range n {
		m := newMachine(p)
		sum += m.call("main", []value{number(i)}).(number).int()
	}
	fmt.Println(sum)
}
