package points

import (
	"cmp"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The compiler numbers the literals of a function in the order in which it meets them: first those
// in its text, then those of functions that it inlines. In a function whose text stands twice
// it meets each twice, first in the text with probes. Tracebacks and profiles show these names, so
// the compiled package is given those that a plain build has.
//
// Nothing is guessed. Literals in the text are compared with their lines. Those that were inlined
// must all be there, and be two equal sequences, because otherwise it is not known which of them
// belong to which text. A function of which this is not so keeps one body.

// nest is where a function stands, from which its name follows.
type nest struct {
	within   *Func   // of a literal: the function that it stands in, nil if that is a variable's value
	literals []*Func // those that stand in it and that the compiler makes functions of, in the order of their numbers
	line     int     // at which the compiler says that it begins
}

// Made is a function that the compiler has made.
type Made struct {
	Name  string // the linker's symbol
	Line  int    // at which it begins; 0 if there is only its name
	Fixed bool   // the name cannot be changed
}

// PlainNames returns the names of functions in a build without probes, by the names that they
// have with probes, where these differ. It also returns the functions whose text may not stand
// twice, because the functions in them do not fit.
func (s *Set) PlainNames(made []Made) (names map[string]string, doubtful []*Func) {
	m := &mender{Set: s, roots: map[string]*Func{}, closures: map[string]bool{}, inside: map[string][]child{},
		numbers: map[string]int{}, doubtful: map[*Func]bool{}}
	for _, fn := range s.Funcs {
		if fn.nest.within == nil && fn.Skip != Dead && fn.Skip != Blank {
			m.roots[fn.Name] = fn
			m.expect(fn, fn.Name)
		}
	}
	var children []child
	for i := range made {
		if c, ok := parseChild(&made[i]); ok {
			children = append(children, c)
			if c.kind == inDeclared || c.kind == inLiteral {
				m.closures[elide(c.Name)] = true
			}
		}
	}
	for _, c := range children {
		m.place(c)
	}
	for _, fn := range m.roots {
		m.check(fn, fn.Name, fn.Name)
	}
	names = map[string]string{}
	for _, c := range children {
		if name := m.mend(c.Name); name != c.Name {
			names[c.Name] = name
			if c.Fixed {
				m.doubt(m.roots[m.outer(elide(c.Name), m.isRoot)])
			}
		}
	}
	return names, slices.SortedFunc(maps.Keys(m.doubtful),
		func(a, b *Func) int { return cmp.Compare(a.Point, b.Point) })
}

// Once makes functions' text stand once.
func (s *Set) Once(list []*Func) {
	for _, fn := range list {
		s.once(fn, OnceLiteral)
	}
}

// once makes fn's text stand once. If it is doubtful whose the literals in it are, loops in which
// calls are inlined do so first: they are the likelier reason, and no one else's.
func (s *Set) once(fn *Func, why OneBody) {
	if why == OnceLiteral && fn.Probes.turnsInlining() {
		s.turnOnce(fn, func(lp *Loop) bool { return lp.inlines })
		return
	}
	if fn.twice() {
		fn.Bodies.Once = why
		s.Points[fn.Point].OneBody = why
	}
	s.turnOnce(fn, func(*Loop) bool { return true })
}

// Doubled returns the functions of which any text stands twice.
func (s *Set) Doubled() (list []*Func) {
	for _, fn := range s.Funcs {
		if fn.Skip == 0 && (fn.twice() || fn.Probes.turns()) {
			list = append(list, fn)
		}
	}
	return list
}

// Twice returns the functions whose text stands twice.
func (s *Set) Twice() (list []*Func) {
	for _, fn := range s.Funcs {
		if fn.twice() {
			list = append(list, fn)
		}
	}
	return list
}

// Holding returns the functions whose text stands twice and holds literals.
func (s *Set) Holding() []*Func {
	return slices.DeleteFunc(s.Twice(), func(fn *Func) bool { return len(fn.nest.literals) == 0 })
}

func (fn *Func) twice() bool { return fn.Skip == 0 && !fn.Bodies.Twin && fn.Bodies.Once == 0 }

// copies is the number of times that the compiler meets fn's literals.
func (fn *Func) copies() int {
	if fn.twice() {
		return 2
	}
	return 1
}

type mender struct {
	*Set
	roots    map[string]*Func   // functions that are in no other, by name
	closures map[string]bool    // names of literals with probes
	inside   map[string][]child // by the name of the function that they are in
	numbers  map[string]int     // the plain number, by a name that ends in another
	doubtful map[*Func]bool
}

// child is a function that the compiler made of a part of another one.
type child struct {
	*Made
	kind   childKind
	stem   string // of the name: without the number
	number int
}

type childKind int

const (
	inDeclared childKind = iota // a literal in a function that is none
	inLiteral                   // a literal in a literal
	inRange                     // the body of a range over a function
	inGo                        // what a go statement calls
	inDefer
)

var childForms = [...]*regexp.Regexp{
	inDeclared: regexp.MustCompile(`^.+\.func[0-9]+$`),
	inLiteral:  regexp.MustCompile(`^.+\.[0-9]+$`),
	inRange:    regexp.MustCompile(`^.+-range[0-9]+$`),
	inGo:       regexp.MustCompile(`^.+\.gowrap[0-9]+$`),
	inDefer:    regexp.MustCompile(`^.+\.deferwrap[0-9]+$`),
}

func parseChild(f *Made) (c child, ok bool) {
	stem := strings.TrimRight(f.Name, "0123456789")
	n, err := strconv.Atoi(f.Name[len(stem):])
	if err != nil {
		return c, false
	}
	for kind, form := range childForms {
		if form.MatchString(f.Name) {
			return child{f, childKind(kind), stem, n}, true
		}
	}
	return c, false
}

// stem is what the names of fn's literals have before the number, if fn is called name.
func (fn *Func) stem(name string) string {
	if _, literal := fn.Node.(*ast.FuncLit); literal {
		return name + "."
	}
	return name + ".func"
}

// expect notes the names of the literals in fn, which is called name.
func (m *mender) expect(fn *Func, name string) {
	for n := range fn.copies() * len(fn.nest.literals) {
		inner := fn.stem(name) + strconv.Itoa(n+1)
		m.closures[inner] = true
		m.expect(fn.nest.literals[n%len(fn.nest.literals)], inner)
	}
}

func (m *mender) isRoot(name string) bool { return m.roots[name] != nil }

// outer returns the longest name of a function within which name is.
func (m *mender) outer(name string, is func(string) bool) string {
	for i := len(name) - 1; i > 0; i-- {
		if (name[i] == '.' || name[i] == '-') && is(name[:i]) {
			return name[:i]
		}
	}
	return ""
}

// place finds the function that c is in.
func (m *mender) place(c child) {
	name, outer := elide(c.Name), ""
	switch c.kind {
	case inDeclared:
		outer = m.outer(name, m.isRoot)
	case inLiteral:
		outer = m.outer(name, func(s string) bool { return m.closures[s] })
	case inRange:
		outer = m.outer(name, func(s string) bool { return m.closures[s] || m.isRoot(s) })
	case inGo, inDefer:
		outer = name[:strings.LastIndexByte(name, '.')]
	}
	m.inside[outer] = append(m.inside[outer], c)
}

// check finds the plain numbers of what is in fn, which is called name, and would be called plain.
func (m *mender) check(fn *Func, name, plain string) {
	if fn.Probes.turnsInlining() && slices.ContainsFunc(m.inside[name], func(c child) bool {
		return (c.kind == inDeclared || c.kind == inLiteral) && elide(c.stem) != fn.stem(name)
	}) {
		m.doubtful[fn] = true
	}
	if fn.twice() {
		if !m.numbered(fn, name, plain) {
			m.doubtful[fn] = true
		}
	} else {
		m.started(fn, name, plain)
	}
	for n := range fn.copies() * len(fn.nest.literals) {
		i := n % len(fn.nest.literals)
		m.check(fn.nest.literals[i], fn.stem(name)+strconv.Itoa(n+1), fn.stem(plain)+strconv.Itoa(i+1))
	}
}

// doubt notes fn, and all literals in it.
func (m *mender) doubt(fn *Func) {
	if fn == nil {
		return
	}
	if fn.twice() || fn.Probes.turns() {
		m.doubtful[fn] = true
	}
	for _, lit := range fn.nest.literals {
		m.doubt(lit)
	}
}

// numbered finds the plain numbers of what is in fn, which stands twice. It reports whether all of
// it fits.
func (m *mender) numbered(fn *Func, name, plain string) bool {
	for i := range fn.nest.literals { // in the object or not: what is in them may be
		m.numbers[fn.stem(name)+strconv.Itoa(len(fn.nest.literals)+i+1)] = i + 1
	}
	var inlined, ranges, defers []child
	for _, c := range m.inside[name] {
		switch {
		case c.kind == inRange:
			ranges = append(ranges, c)
		case c.kind == inDefer:
			defers = append(defers, c)
		case c.kind == inGo:
		case elide(c.stem) != fn.stem(name):
			c.stem = m.mend(c.stem)
			inlined = append(inlined, c)
		case !m.fits(fn, c):
			return false
		}
	}
	return m.pairs(inlined, len(fn.nest.literals)) && m.pairs(ranges, 0) && m.started(fn, name, plain) &&
		m.deferred(defers, plain)
}

// fits reports whether c is the literal of fn that its number tells.
func (m *mender) fits(fn *Func, c child) bool {
	if c.number < 1 || c.number > fn.copies()*len(fn.nest.literals) {
		return false
	}
	lit := fn.nest.literals[(c.number-1)%len(fn.nest.literals)]
	return (c.Line == 0 || c.Line == lit.nest.line) && m.inlining.knows(strings.TrimPrefix(lit.Name, m.prefix))
}

// pairs finds the plain numbers of what was inlined into a function with n literals of its own.
// The compiler inlines calls in the order of the text, then those in what it has inlined, and
// so on: the sequence of what it makes is made of parts, each of which is the same sequence
// twice. What comes of one function is in one part, because it is equally deep.
func (m *mender) pairs(list []child, own int) bool {
	byNumber(list)
	for i, c := range list {
		if c.number != 2*own+i+1 {
			return false // some are not in the object
		}
	}
	plain := own
	for len(list) > 0 {
		n := repeated(list)
		if n == 0 {
			return false
		}
		for i := range n {
			plain++
			for _, c := range []child{list[i], list[n+i]} {
				m.numbers[elide(c.Name)] = plain
			}
		}
		list = list[2*n:]
	}
	return true
}

// repeated returns the length of the shortest sequence that list begins with twice, so that
// nothing of the rest comes of the same functions; 0 if there is none.
func repeated(list []child) int {
	last := map[string]int{}
	for i, c := range list {
		last[c.stem] = i
	}
	end := 0 // of what must be in the part
	for i := 0; i <= end; i++ {
		end = max(end, last[list[i].stem])
	}
	n := (end + 1) / 2
	if 2*n != end+1 {
		return 0
	}
	for i := range n {
		if a, b := list[i], list[n+i]; a.stem != b.stem || a.Line != 0 && b.Line != 0 && a.Line != b.Line {
			return 0
		}
	}
	return n
}

// started finds the plain numbers of what the compiler makes of the go statements in fn. It numbers
// them together with deferred calls, among which are those of probes. If they do not fit it
// returns false, and they keep their numbers.
func (m *mender) started(fn *Func, name, plain string) bool {
	var list []child
	for _, c := range m.inside[name] {
		if c.kind == inGo {
			list = append(list, c)
		}
	}
	told := m.inlining.wrappers(strings.TrimPrefix(plain, m.prefix), "gowrap")
	if len(list) != fn.copies()*len(told) {
		return false
	}
	byNumber(list)
	for text := range slices.Chunk(list, max(1, len(told))) {
		if !m.wrappers(text, told) {
			return false
		}
	}
	return true
}

// deferred does likewise for defer statements, in the text without probes. In the other one they
// keep their numbers. A traceback shows them only if what is deferred is nil.
func (m *mender) deferred(list []child, plain string) bool {
	told := m.inlining.wrappers(strings.TrimPrefix(plain, m.prefix), "deferwrap")
	byNumber(list)
	return len(list) >= len(told) && m.wrappers(list[len(list)-len(told):], told)
}

// wrappers gives the numbers of told to list, if they begin at the same lines.
func (m *mender) wrappers(list []child, told []numbered) bool {
	for i, c := range list {
		if c.Line != 0 && c.Line != told[i].line || told[i].number > c.number || told[i].number < c.number && c.Fixed {
			return false
		}
	}
	for i, c := range list {
		m.numbers[elide(c.Name)] = told[i].number
	}
	return true
}

func byNumber(list []child) {
	slices.SortFunc(list, func(a, b child) int { return cmp.Compare(a.number, b.number) })
}

// mend returns the plain name of a function, or of the beginning of a name.
func (m *mender) mend(name string) string {
	var b strings.Builder
	from := 0
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' && name[i] != '-' {
			continue
		}
		if n, ok := m.plain(elide(name[:i]), i == len(name)); ok {
			b.WriteString(strings.TrimRight(name[from:i], "0123456789"))
			b.WriteString(strconv.Itoa(n))
			from = i
		}
	}
	b.WriteString(name[from:])
	return b.String()
}

// plain returns the number that the beginning of a name ends in without probes. What stands in
// a literal that was inlined has the literal's name within its own, without the package; only
// literals of the same function are inlined there.
func (m *mender) plain(name string, whole bool) (n int, ok bool) {
	if n, ok = m.numbers[name]; ok || whole || m.closures[name] {
		return n, ok
	}
	root := m.outer(name, m.isRoot)
	if root == "" {
		return 0, false
	}
	inner := strings.LastIndex(name, "."+root[len(m.prefix):]+".")
	if inner < len(root) {
		return 0, false
	}
	n, ok = m.numbers[m.prefix+name[inner+1:]]
	return n, ok
}
