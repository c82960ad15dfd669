// Package progen writes random Go programs that know how often each of their calls is made and
// how often each of their loops turns. They consist of statements that leave a loop, evaluate a
// call, or move control in unusual ways. They must end, so all their work is paid for out of a
// fixed amount.
//
// A program prints "call LINE COUNT" for each line with calls of its functions f0,
// f1, ... and "loop LINE ENTERED TRIPS" for each loop, by the line that it begins on.
package progen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Program returns the text of a program; the same for the same seed.
func Program(seed uint64) string {
	g := &gen{rnd: rand.New(rand.NewPCG(seed, 1)), funcs: 6}
	for _, line := range strings.Split(strings.TrimSpace(prelude), "\n") {
		g.line("%s", line)
	}
	for i := range g.funcs {
		g.function(i)
	}
	return g.out.String()
}

const prelude = `
package main

import (
	"fmt"
	"sync"
)

var (
	fuel                  = 4000
	mu                    sync.Mutex
	hits, entered, turned [4000]int
)

//go:noinline
func hit(line int) { hits[line]++; fuel-- }

//go:noinline
func enter(line int) { entered[line]++ }

//go:noinline
func turn(line int) { turned[line]++; fuel-- }

func seq(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

type worker interface{ work(line, n int) int }

type twice struct{ by int }

//go:noinline
func (t *twice) work(line, n int) int { return f0(line, n+t.by) }

type once struct{}

//go:noinline
func (once) work(line, n int) int { return n + line*0 }

func main() {
	for n := range 20 {
		f0(0, n)
	}
	for line, n := range hits {
		if n > 0 && line > 0 {
			fmt.Println("call", line, n)
		}
	}
	for line, n := range entered {
		if n > 0 {
			fmt.Println("loop", line, n, turned[line])
		}
	}
}
`

type gen struct {
	rnd    *rand.Rand
	out    strings.Builder
	lines  int
	funcs  int
	indent int
	names  int
	loops  []string // labels of the loops around, "" if a loop has none
	inFunc bool     // in the body of a range over a function: no goto out of it is made
	inLit  bool     // in a literal: its own returns
}

// line writes one line; @ stands for its number.
func (g *gen) line(format string, args ...any) {
	g.lines++
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "@", fmt.Sprint(g.lines))
	fmt.Fprintf(&g.out, "%s%s\n", strings.Repeat("\t", g.indent), text)
}

func (g *gen) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// call is a call expression of some function.
func (g *gen) call() string { return fmt.Sprintf("f%d(@, n%%7)", g.rnd.IntN(g.funcs)) }

func (g *gen) function(i int) {
	g.line("")
	results, ret := "int", "return n"
	if g.rnd.IntN(3) == 0 {
		results = "(m int)"
	}
	g.line("//go:noinline")
	g.line("func f%d(line, n int) %s {", i, results)
	g.indent++
	g.line("hit(line)")
	g.line("if fuel < 0 {")
	g.line("\treturn n")
	g.line("}")
	g.block(4 + g.rnd.IntN(5))
	g.line("%s", ret)
	g.indent--
	g.line("}")
}

// block writes up to n statements, fewer the deeper it stands.
func (g *gen) block(n int) {
	if n = min(n, 6-g.indent); n <= 0 {
		g.line("n++")
		return
	}
	all := statements()
	for range n {
		all[g.rnd.IntN(len(all))](g)
	}
}

func (g *gen) body(open string, n int, args ...any) {
	g.line(open, args...)
	g.indent++
	g.block(n)
	g.indent--
	g.line("}")
}

// loop writes a loop with a head; the line that it begins on names it.
func (g *gen) loop(head string, overFunc bool, extra ...string) {
	label := ""
	g.line("enter(%d)", g.lines+2)
	begins := g.lines + 1
	if g.rnd.IntN(3) == 0 {
		label = g.name("loop")
		g.line("%s:", label)
		g.line("%s", head)
		// The loop begins a line below its label.
		fixed := strings.Replace(g.out.String(), fmt.Sprintf("enter(%d)\n", begins),
			fmt.Sprintf("enter(%d)\n", begins+1), 1)
		g.out.Reset()
		g.out.WriteString(fixed)
		begins++
	} else {
		g.line("%s", head)
	}
	g.indent++
	g.line("turn(%d)", begins)
	g.line("if fuel < 0 {")
	g.line("\tbreak")
	g.line("}")
	for _, s := range extra {
		g.line("%s", s)
	}
	was, wasFunc := g.loops, g.inFunc
	g.loops = append(g.loops[:len(g.loops):len(g.loops)], label)
	g.inFunc = g.inFunc || overFunc
	g.block(3)
	if label != "" {
		g.line("if n == -77 {")
		g.line("\tcontinue %s", label) // used in any case
		g.line("}")
	}
	g.loops, g.inFunc = was, wasFunc
	g.indent--
	g.line("}")
}

// statements are the kinds of statements in programs.
func statements() []func(*gen) {
	return []func(*gen){
		func(g *gen) { g.line("n += %s", g.call()) },
		func(g *gen) { g.line("n = %s + %s", g.call(), g.call()) },
		func(g *gen) { g.line("n += max(%s, %s)", g.call(), g.call()) },
		func(g *gen) {
			g.line("if n%%3 == 1 && %s > 2 || %s == 4 {", g.call(), g.call())
			g.indent++
			g.block(2)
			g.indent--
			g.line("} else if x := %s; x > 3 && %s > 1 {", g.call(), g.call())
			g.indent++
			g.block(2)
			g.indent--
			g.line("}")
		},
		func(g *gen) { i := g.name("i"); g.loop(fmt.Sprintf("for %s := 0; %s < 3; %s++ {", i, i, i), false) },
		func(g *gen) {
			i := g.name("i")
			g.loop(fmt.Sprintf("for %s := 0; %s < 4; %s += 1 + %s*0 {", i, i, i, g.call()), false)
		},
		func(g *gen) {
			i := g.name("i")
			g.loop(fmt.Sprintf("for %s := 0; ; %s += 1 + %s*0 {", i, i, g.call()), false, fmt.Sprintf("if %s > 2 {", i),
				"\tbreak", "}")
		},
		func(g *gen) { g.loop("for range 3 {", false) },
		func(g *gen) {
			v := g.name("v")
			g.loop(fmt.Sprintf("for _, %s := range []int{n, 1, 2} {", v), false, "n += "+v)
		},
		func(g *gen) { v := g.name("v"); g.loop(fmt.Sprintf("for %s := range seq(3) {", v), true, "n += "+v) },
		func(g *gen) {
			i := g.name("i")
			g.line("%s := 0", i)
			g.loop("for {", false, i+"++", fmt.Sprintf("if %s > 3 || %s > 90 {", i, g.call()), "\tbreak", "}")
		},
		func(g *gen) {
			if len(g.loops) == 0 || g.inLit {
				return
			}
			verb := []string{"break", "continue"}[g.rnd.IntN(2)]
			label := g.loops[g.rnd.IntN(len(g.loops))]
			g.line("if n%%%d == 0 {", 2+g.rnd.IntN(4))
			g.line("\t%s %s", verb, label)
			g.line("}")
		},
		func(g *gen) {
			g.line("if n%%%d == 1 {", 3+g.rnd.IntN(5))
			g.line("\treturn %s", g.call())
			g.line("}")
		},
		func(g *gen) {
			g.line("switch %s %% 3 {", g.call())
			g.body("case 0:", 2)
			g.trim()
			g.body("case %s %% 3, %s %% 2:", 2, g.call(), g.call())
			g.trim()
			g.body("default:", 1)
		},
		func(g *gen) {
			g.line("switch {")
			g.body("case %s > 3:", 2, g.call())
			g.trim()
			g.body("case n > 2 && %s == 1:", 1, g.call())
		},
		func(g *gen) { g.line("defer %s", g.call()) },
		func(g *gen) {
			g.line("func() {")
			g.indent++
			g.line("defer func() { _ = recover() }()")
			g.line("if n%%4 == 0 {")
			g.line("\tpanic(n)")
			g.line("}")
			g.line("n += %s", g.call())
			g.indent--
			g.line("}()")
		},
		func(g *gen) {
			c := g.name("c")
			g.line("%s := func(n int) int { return %s + 1 }", c, g.call())
			if g.rnd.IntN(2) == 0 {
				g.line("if n > 3 {")
				g.line("\t%s = func(n int) int { return %s + 2 }", c, g.call())
				g.line("}")
			}
			g.line("n += %s(n)", c)
		},
		func(g *gen) {
			w := g.name("w")
			g.line("var %s worker = once{}", w)
			g.line("if n%%2 == 0 {")
			g.line("\t%s = &twice{n %% 3}", w)
			g.line("}")
			g.line("n += %s.work(%d, n%%5)", w, 0)
		},
		func(g *gen) {
			if g.inLit {
				return
			}
			k, label := g.name("k"), g.name("again")
			g.line("{")
			g.indent++
			g.line("%s := 0", k)
			g.line("enter(%d)", g.lines+2)
			begins := g.lines + 1
			g.line("%s:", label)
			g.line("turn(%d)", begins)
			g.line("n += %s", g.call())
			g.line("if %s++; %s < 3 && fuel > 0 {", k, k)
			g.line("\tgoto %s", label)
			g.line("}")
			g.indent--
			g.line("}")
		},
		func(g *gen) {
			g.line("mu.Lock()")
			g.line("n++")
			g.line("mu.Unlock()")
		},
		func(g *gen) {
			ch := g.name("ch")
			g.line("%s := make(chan int, 2)", ch)
			g.line("%s <- %s", ch, g.call())
			g.line("n += <-%s %% 5", ch)
			g.line("select {")
			g.line("case %s <- %s:", ch, g.call())
			g.line("default:")
			g.line("}")
		},
	}
}

// trim takes the brace of a body away: that of a case has none.
func (g *gen) trim() {
	text := g.out.String()
	text = strings.TrimSuffix(text, "\n")
	text = text[:strings.LastIndexByte(text, '\n')+1]
	g.out.Reset()
	g.out.WriteString(text)
	g.lines--
}
