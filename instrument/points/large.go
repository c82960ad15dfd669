package points

import "strings"

// A function of more than 5,000 nodes gets hardly anything inlined (inlineBigFunctionNodes in
// cmd/compile/internal/inline), and probes are nodes. So a function that both bodies would make
// that large stands once, and has probes at its entry, its exits and its operations alone; with the
// exits as one deferred call if they are too many; and if even that is too large, none. The calls
// and loops of such a function would cost too much there: each of them needs a test where the text
// stands once, and an interpreter's loop has hundreds.
//
// The compiler's nodes differ from those of the syntax by function: below the first bound nothing
// is large, between the two the compiler is asked, see Set.TooLarge. Beyond the second a function
// would take long to compile. Functions of one form of call and nothing else, of fourteen forms,
// were large at an estimate of 5,300 and more.
const (
	sureNodes = 4000
	mostNodes = 18000

	incNodes   = 14 // of a call that is counted in line
	pointNodes = 40 // of any other probe
)

// Large says how often each function of a package was too large for its probes, by its name as the
// compiler reports it.
type Large map[string]int

// The steps.
const (
	noneLarge   = iota
	bodiesLarge // with both bodies, and all probes
	exitsLarge  // with one, and few
	probesLarge // with one exit, too
)

// large is the step for a function. What is large without probes cannot become it.
func (f *finder) large(fn *Func) int {
	if f.Inlining.big[f.local(fn)] {
		return bodiesLarge
	}
	return f.Large[f.local(fn)]
}

// doubt notes whether a function may be too large.
func (f *finder) doubt(fn *Func, own int) {
	if f.Inlining.big[f.local(fn)] {
		return
	}
	nodes := own + pointNodes*fn.probes()
	if fn.twice() {
		nodes = f.bothNodes(fn, own)
	}
	fn.Bodies.perhapsLarge = nodes > sureNodes
	fn.Bodies.surelyLarge = fn.twice() && nodes > mostNodes
}

// bothNodes estimates the nodes of fn with both bodies, one of which has the probes.
func (f *finder) bothNodes(fn *Func, own int) int {
	nodes := 2*own + pointNodes*fn.probes()
	for _, a := range fn.Probes.Insertions {
		for _, n := range a.Points {
			if _, told := f.set.Dynamic[n]; !told {
				nodes -= pointNodes - incNodes
			}
		}
	}
	return nodes
}

// PerhapsLarge reports whether any function may be too large for its probes.
func (s *Set) PerhapsLarge() bool {
	for _, fn := range s.Funcs {
		if fn.Skip == 0 && fn.Bodies.perhapsLarge {
			return true
		}
	}
	return false
}

// TooLarge notes the functions that are too large for their probes, according to what "compile
// -m=2" says of the package with probes: nil if it said nothing. It reports whether there are any.
// Then the points are to be found anew.
func (s *Set) TooLarge(report []byte, large Large) (found bool) {
	big := bigOnes(report)
	for _, fn := range s.Funcs {
		name := strings.TrimPrefix(fn.Name, s.prefix)
		if fn.Skip == 0 && fn.Bodies.perhapsLarge && (report == nil || fn.Bodies.surelyLarge || big[name]) &&
			large[name] < probesLarge {
			large[name]++
			found = true
		}
	}
	return found
}

// bigOnes are the functions that a report of the compiler calls big.
func bigOnes(report []byte) map[string]bool {
	big := map[string]bool{}
	for line := range strings.Lines(string(report)) {
		if name, ok := bigName(line); ok {
			big[name] = true
		}
	}
	return big
}

func bigName(line string) (name string, ok bool) {
	_, rest, ok := strings.Cut(line, ": function ")
	if !ok {
		return "", false
	}
	name, _, ok = strings.Cut(rest, " considered 'big'")
	return elide(name), ok
}
