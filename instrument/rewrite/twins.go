package rewrite

import (
	"bytes"
	"go/ast"
	"strings"

	"qinst.dev/instrument/points"
)

// twin puts a function's twin at the end of its file, so that functions without probes are next to
// each other in memory:
//
//	func (receiver) name(parameters) results { text as it was }
//	...
//	/*line :L:C*/ func twin(receiver, parameters) results { text with probes }
//
// A receiver is passed as a first parameter is. Comments between the declarations stand twice, too,
// because there are directives among them.
func (w *writer) twin(fn *points.Func, funcs []*points.Func) {
	d, declared := fn.Node.(*ast.FuncDecl)
	if !declared {
		return // is in those of what it stands in
	}
	if d.Recv == nil {
		w.Replace(w.file.Offset(d.Name.Pos()), w.file.Offset(d.Name.End()), w.set.TwinName(fn))
	} else {
		from, to := w.file.Offset(d.Recv.Pos()), w.file.Offset(d.Type.Params.Opening+1)
		lines := strings.Repeat("\n", bytes.Count(w.text[from:to], []byte("\n"))) // those that follow keep their numbers
		w.Replace(from, to, w.set.TwinName(fn)+"("+lines+w.receiver(d))
	}
	var without []int
	for _, in := range funcs {
		if fn.Node.Pos() <= in.Node.Pos() && in.Node.End() <= fn.Node.End() {
			without = append(without, probesOf(in), exitsOf(in))
			for _, lp := range in.Probes.Loops {
				without = append(without, leavesOf(lp))
			}
		}
	}
	w.Append(w.file.Offset(fn.Bodies.Start), w.file.Offset(d.End()), w.lineAt(fn.Bodies.Start), without...)
}

// pairs returns where functions and their twins are in the text that is made.
func (w *writer) pairs(funcs []*points.Func) (list []points.Pair) {
	at := map[int]*points.Func{}
	for _, fn := range funcs {
		if _, declared := fn.Node.(*ast.FuncDecl); declared && fn.Bodies.Twin {
			at[w.file.Offset(fn.Bodies.Start)] = fn
		}
	}
	for _, c := range w.Copies() {
		if fn := at[c.Start]; fn != nil {
			list = append(list, points.Pair{Name: fn.Name, Twin: [2]int(c.First), Plain: [2]int(c.Second)})
		}
	}
	return list
}

// receiver is a method's receiver as the first of its twin's parameters. Either all of these have
// names or none.
func (w *writer) receiver(d *ast.FuncDecl) string {
	recv, params := d.Recv.List[0], d.Type.Params.List
	text := string(w.text[w.file.Offset(recv.Type.Pos()):w.file.Offset(recv.Type.End())])
	named := len(params) == 0 || len(params[0].Names) > 0
	switch {
	case len(recv.Names) > 0:
		text = recv.Names[0].Name + " " + text
		if !named {
			for _, p := range params {
				w.Insert(w.file.Offset(p.Pos()), "_ ")
			}
		}
	case named:
		text = "_ " + text
	}
	return strings.ReplaceAll(text, "\n", " ") + ", "
}
