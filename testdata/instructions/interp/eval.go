package main

import "strconv"

// value is what expressions have.
type value interface {
	truth() bool
	plus(value) value
	equal(value) bool
	String() string
}

type (
	number int
	text   string
)

func (n number) int() int           { return int(n) }
func (n number) truth() bool        { return n != 0 }
func (n number) equal(v value) bool { return v == value(n) }
func (n number) String() string     { return strconv.Itoa(int(n)) }
func (n number) plus(v value) value {
	if m, ok := v.(number); ok {
		return n + m
	}
	return text(n.String() + v.String())
}

func (s text) truth() bool        { return s != "" }
func (s text) equal(v value) bool { return v == value(s) }
func (s text) String() string     { return string(s) }
func (s text) plus(v value) value { return s + text(v.String()) }

// machine is a run of a program.
type machine struct {
	functions map[string]*function
	builtins  map[string]func(args []value) value
	table     map[string]int
	calls     int
}

func newMachine(functions map[string]*function) *machine {
	m := &machine{functions: functions, table: map[string]int{}}
	m.builtins = map[string]func(args []value) value{
		"add": func(args []value) value {
			m.table[args[0].String()] += args[1].(number).int()
			return number(0)
		},
		"get": func(args []value) value { return number(m.table[args[0].String()]) },
	}
	return m
}

func (m *machine) call(name string, args []value) value {
	m.calls++
	if b := m.builtins[name]; b != nil {
		return b(args)
	}
	f := m.functions[name]
	fr := &frame{machine: m, slots: make([]value, f.slots)}
	copy(fr.slots, args[:f.params])
	f.body.eval(fr)
	return fr.result
}

// frame is an activation of a function.
type frame struct {
	machine *machine
	slots   []value
	result  value // not nil: it has returned
}

func (f *frame) get(slot int) value    { return f.slots[slot] }
func (f *frame) set(slot int, v value) { f.slots[slot] = v }
func (f *frame) returned() bool        { return f.result != nil }

type function struct {
	name          string
	params, slots int
	body          block
}

// node is a part of a syntax tree. Statements have no value.
type node interface {
	eval(f *frame) value
}

type (
	constant struct{ v value }
	variable struct{ slot int }
	binary   struct {
		op          byte
		left, right node
	}
	assign struct {
		slot int
		from node
	}
	call struct {
		name string
		args []node
	}
	branch struct {
		cond node
		then block
	}
	loop struct {
		cond node
		body block
	}
	result struct{ from node }
	block  []node
)

func (n *constant) eval(*frame) value   { return n.v }
func (n *variable) eval(f *frame) value { return f.get(n.slot) }

func (n *binary) eval(f *frame) value {
	a, b := n.left.eval(f), n.right.eval(f)
	switch n.op {
	case '+':
		return a.plus(b)
	case '=':
		return truth(a.equal(b))
	case '!':
		return truth(!a.equal(b))
	}
	return arithmetic(n.op, a.(number), b.(number))
}

func arithmetic(op byte, a, b number) value {
	switch op {
	case '-':
		return a - b
	case '*':
		return a * b
	case '%':
		return a % b
	case '<':
		return truth(a < b)
	}
	panic("found an unknown operator " + string(op))
}

func truth(b bool) value {
	if b {
		return number(1)
	}
	return number(0)
}

func (n *assign) eval(f *frame) value {
	f.set(n.slot, n.from.eval(f))
	return nil
}

func (n *call) eval(f *frame) value {
	args := make([]value, len(n.args))
	for i, a := range n.args {
		args[i] = a.eval(f)
	}
	return f.machine.call(n.name, args)
}

func (n *branch) eval(f *frame) value {
	if n.cond.eval(f).truth() {
		n.then.eval(f)
	}
	return nil
}

func (n *loop) eval(f *frame) value {
	for !f.returned() && n.cond.eval(f).truth() {
		n.body.eval(f)
	}
	return nil
}

func (n *result) eval(f *frame) value {
	f.result = n.from.eval(f)
	return nil
}

func (b block) eval(f *frame) value {
	for _, n := range b {
		if n.eval(f); f.returned() {
			break
		}
	}
	return nil
}
