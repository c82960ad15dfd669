package names

import (
	"regexp"
	"strconv"
	"strings"
)

// Of is the name of a linker symbol of a function or variable, as the source has it. The linker
// writes some characters of a package's path as %xx, "gopkg.in/yaml%2ev3", and the type arguments
// of a generic function as it compiled them, "F[go.shape.int]". Both would let one procedure have
// two names, because probes know neither.
func Of(symbol string) string {
	if strings.HasPrefix(symbol, "[") || strings.HasPrefix(symbol, "type:") || strings.HasPrefix(symbol, "go:") {
		return symbol // no function: made by the compiler from types, or by an analysis
	}
	symbol = elide(symbol)
	if list, ok := strings.CutPrefix(symbol, selects); ok {
		parts := strings.Split(list, ", ")
		for i, p := range parts {
			parts[i] = Plain(p)
		}
		return selects + strings.Join(parts, ", ")
	}
	return Plain(symbol)
}

// selects begins the name of a select, which has the names of its channels.
const selects = "select("

// compiled ends the names of functions that the compiler makes: of the bodies of ranges over
// functions, of values of methods, and of go and defer statements whose calls have arguments.
var compiled = regexp.MustCompile(`(-range[0-9]+)+$|-fm$|\.(go|defer)wrap[0-9]+$`)

// Procedure is the name of the procedure in whose text a function is, if the compiler has made it:
// the body of a range over a function is a loop's.
func Procedure(name string) string {
	if !strings.Contains(name, "-range") && !strings.HasSuffix(name, "-fm") && !strings.Contains(name, "wrap") {
		return name
	}
	return compiled.ReplaceAllString(name, "")
}

// literal matches the end of the name of a function literal.
var literal = regexp.MustCompile(`\.func[0-9]+(\.[0-9]+)*$`)

// Outer returns the name of the procedure that a function literal is in, and how many literals lie
// within each other there: 0 if it is none.
func Outer(name string) (outer string, depth int) {
	end := literal.FindStringIndex(name)
	if end == nil {
		return name, 0
	}
	return name[:end[0]], strings.Count(name[end[0]:], ".")
}

// Plain is a symbol with the path of its package as import statements have it.
func Plain(symbol string) string {
	path := PackageOf(symbol)
	if !strings.Contains(path, "%") {
		return symbol
	}
	return unescape(path) + symbol[len(path):]
}

// PathOf is the import path of a symbol's package, "" if it has none.
func PathOf(symbol string) string { return unescape(PackageOf(symbol)) }

// PackageOf is the path of a symbol's package as the symbol has it: up to the first dot after the
// last slash that is not within brackets. In a name it is the path only if no dot is in the path's
// last element: see [Paths].
func PackageOf(symbol string) string {
	head := symbol
	if i := strings.IndexAny(symbol, "[({ "); i >= 0 {
		head = symbol[:i]
	}
	slash := strings.LastIndexByte(head, '/') + 1
	dot := strings.IndexByte(head[slash:], '.')
	if dot < 0 {
		return ""
	}
	return head[:slash+dot]
}

// Paths are the import paths that have a dot in their last element. In names of their symbols the
// end of the path is not visible.
type Paths map[string]bool

// Add notes the path of a symbol's package.
func (p Paths) Add(symbol string) {
	if strings.Contains(symbol, "%") {
		if path := PathOf(symbol); strings.Contains(path[strings.LastIndexByte(path, '/')+1:], ".") {
			p[path] = true
		}
	}
}

// PackageOf is the import path in a name, "" if it has none.
func (p Paths) PackageOf(name string) string {
	short := PackageOf(name)
	for i := len(short); len(p) > 0 && i < len(name) && name[i] == '.'; {
		if next := strings.IndexAny(name[i+1:], ".[({ "); next >= 0 {
			if i += 1 + next; p[name[:i]] {
				return name[:i]
			}
			continue
		}
		break
	}
	return short
}

// elide writes type arguments as the source of probes does.
func elide(symbol string) string {
	open := strings.IndexByte(symbol, '[')
	if open < 0 {
		return symbol
	}
	var b strings.Builder
	depth := 0
	for _, c := range []byte(symbol) {
		switch {
		case c == '[':
			if depth++; depth == 1 {
				b.WriteString("[...]")
			}
		case c == ']' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if c, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
