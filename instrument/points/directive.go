package points

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// directive is a comment of the form //qinst:verb argument. It applies to the
// function or loop that begins on the same line, or on the first line after its
// group of comments.
type directive struct {
	verb, arg string
	pos       token.Pos
	used      bool
}

// Directive verbs.
const (
	verbIgnore = "ignore" // no probe in the function, no probe at the loop
	verbProbe  = "probe"  // a probe, whatever the rules about size say
	verbName   = "name"   // the point's name in every report
)

// directives are those of a package.
type directives struct {
	all     []*directive
	at      map[lineKey][]*directive
	renamed map[string]string // functions that one names, by symbol
}

// lineKey is a line of a file of the package.
type lineKey struct {
	file *token.File
	line int
}

// readDirectives notes the line that each directive applies to.
func readDirectives(p *Package) directives {
	ds := directives{at: map[lineKey][]*directive{}, renamed: map[string]string{}}
	for _, file := range p.Files {
		tf := p.Fset.File(file.FileStart)
		for _, group := range file.Comments {
			for _, c := range group.List {
				if d := parseDirective(c); d != nil {
					ds.add(d, lineKey{tf, tf.Line(c.Pos())}, lineKey{tf, tf.Line(group.End()) + 1})
				}
			}
		}
	}
	return ds
}

func parseDirective(c *ast.Comment) *directive {
	text, ok := strings.CutPrefix(c.Text, "//qinst:")
	if !ok {
		return nil
	}
	verb, arg, _ := strings.Cut(text, " ")
	return &directive{verb: verb, arg: strings.TrimSpace(arg), pos: c.Pos()}
}

// add adds a directive that applies to its own line and the one below its group.
func (ds *directives) add(d *directive, own, below lineKey) {
	ds.all = append(ds.all, d)
	ds.at[own] = append(ds.at[own], d)
	if below != own {
		ds.at[below] = append(ds.at[below], d)
	}
}

// directed returns the argument of the directive with this verb that applies to a
// node, and whether there is such a directive.
func (f *finder) directed(n ast.Node, verb string) (arg string, ok bool) {
	tf := f.Fset.File(n.Pos())
	for _, d := range f.directives.at[lineKey{tf, tf.Line(n.Pos())}] {
		if d.verb == verb {
			d.used, arg, ok = true, d.arg, true
		}
	}
	return arg, ok
}

// has reports whether a directive with this verb applies to a function.
func (f *finder) has(fn *Func, verb string) bool {
	_, ok := f.directed(fn.Node, verb)
	return ok
}

// renameFuncs reads the names that directives give to functions. The program's
// main function keeps its name, because readers recognize it by the name.
func (f *finder) renameFuncs() {
	for _, fn := range f.set.Funcs {
		if name, _ := f.directed(fn.Node, verbName); name != "" && fn.Name != "main.main" {
			f.directives.renamed[fn.Name] = name
		}
	}
}

// called returns the name of a function in reports.
func (f *finder) called(symbol string) string {
	if name, ok := f.directives.renamed[symbol]; ok {
		return name
	}
	return symbol
}

// Warning tells of a directive without effect, or of a failure of the tool that
// prevents points.
type Warning struct {
	Pos  token.Position
	Text string
}

// warnings returns a warning of a failed SSA form, if any, and one for each directive
// that no point used.
func (f *finder) warnings() []Warning {
	var list []Warning
	if f.SSAError != nil {
		text := fmt.Sprintf("internal error: no SSA form of %s: %v; its loops are not probed", f.ImportPath, f.SSAError)
		list = append(list, Warning{f.Fset.Position(f.Files[0].Package), text})
	}
	for _, d := range f.directives.all {
		if d.used {
			continue
		}
		text := "//qinst:" + d.verb + " has no effect: it stands before neither a function nor a loop that could be probed"
		switch d.verb {
		case verbIgnore, verbProbe, verbName:
		default:
			text = "//qinst:" + d.verb + " is no directive: expected //qinst:ignore, //qinst:probe or //qinst:name NAME"
		}
		list = append(list, Warning{f.Fset.Position(d.pos), text})
	}
	return list
}
