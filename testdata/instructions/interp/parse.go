package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// parser makes syntax trees of a text. It panics if the text is wrong.
type parser struct {
	text string
	at   int
	word string // the current one
	vars map[string]int
}

// parse returns the functions of a program.
func parse(text string) map[string]*function {
	p := &parser{text: text}
	functions := map[string]*function{}
	for p.next(); p.word != ""; {
		f := p.function()
		functions[f.name] = f
	}
	return functions
}

// next takes the next word: a name, a number, a text in quotation marks, an operator.
func (p *parser) next() {
	for p.at < len(p.text) && unicode.IsSpace(rune(p.text[p.at])) {
		p.at++
	}
	start := p.at
	if p.at == len(p.text) {
		p.word = ""
		return
	}
	c := p.text[p.at]
	p.at++
	switch {
	case c == '"':
		p.at += strings.IndexByte(p.text[p.at:], '"') + 1
	case letter(c):
		for p.at < len(p.text) && letter(p.text[p.at]) {
			p.at++
		}
	case strings.IndexByte("=!<", c) >= 0 && p.text[p.at] == '=':
		p.at++
	}
	p.word = p.text[start:p.at]
}

func letter(c byte) bool { return unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) }

func (p *parser) take() string {
	w := p.word
	p.next()
	return w
}

func (p *parser) want(word string) {
	if w := p.take(); w != word {
		panic(fmt.Sprintf("found %q, expected %q", w, word))
	}
}

// list reads names or expressions in parentheses.
func (p *parser) list(one func()) {
	p.want("(")
	for p.word != ")" {
		one()
		if p.word == "," {
			p.next()
		}
	}
	p.next()
}

func (p *parser) function() *function {
	p.want("fn")
	f := &function{name: p.take()}
	p.vars = map[string]int{}
	p.list(func() { p.slot(p.take()) })
	f.params = len(p.vars)
	f.body = p.block()
	f.slots = len(p.vars)
	return f
}

// slot is the place of a variable in the frame.
func (p *parser) slot(name string) int {
	i, ok := p.vars[name]
	if !ok {
		i = len(p.vars)
		p.vars[name] = i
	}
	return i
}

func (p *parser) block() (b block) {
	p.want("{")
	for p.word != "}" {
		b = append(b, p.statement())
	}
	p.next()
	return b
}

func (p *parser) statement() node {
	switch p.word {
	case "if":
		p.next()
		return &branch{p.expression(), p.block()}
	case "while":
		p.next()
		return &loop{p.expression(), p.block()}
	case "return":
		p.next()
		return &result{p.expression()}
	case "let":
		p.next()
	}
	name := p.take()
	if p.word == "(" {
		return p.call(name)
	}
	p.want("=")
	return &assign{p.slot(name), p.expression()}
}

var priority = map[string]int{"<": 1, "==": 1, "!=": 1, "+": 2, "-": 2, "*": 3, "%": 3}

func (p *parser) expression() node { return p.above(0) }

// above reads operators that bind more strongly than the given priority.
func (p *parser) above(least int) node {
	left := p.operand()
	for priority[p.word] > least {
		op := p.take()
		left = &binary{op[0], left, p.above(priority[op])}
	}
	return left
}

func (p *parser) operand() node {
	w := p.take()
	switch {
	case w[0] == '"':
		return &constant{text(w[1 : len(w)-1])}
	case unicode.IsDigit(rune(w[0])):
		n, err := strconv.Atoi(w)
		if err != nil {
			panic(err)
		}
		return &constant{number(n)}
	case p.word == "(":
		return p.call(w)
	}
	return &variable{p.slot(w)}
}

func (p *parser) call(name string) node {
	c := &call{name: name}
	p.list(func() { c.args = append(c.args, p.expression()) })
	return c
}
