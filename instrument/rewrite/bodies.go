package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"qinst.dev/instrument/points"
	"qinst.dev/sddf/spec"
)

// bodies makes fn's text stand twice:
//
//	func f() { if !(level == 0) { if !(level <= 1) { text with probes; return }; count the entry }
//	/*line :L:C*/ text as it was }
//
// The level may change at any time, also between the tests. So an activation that finds the first
// not 0 counts its entry, one way or the other. Each test reads the level as another type, because
// the compiler then compares with memory: otherwise it would keep the level in a register. The
// conditions are negations of others, because the compiler lays out first what follows if that
// one holds, if nothing else decides: the text as it was is not apart from the entry.
//
// The text as it was stands last, at the top level, because there it means what it meant. In the
// block labels get other names, since a function has one of each name, and := must not declare the
// variables of the signature anew. The comment takes the lines back to where they were, and stands
// at the beginning of a line, because the compiler does not tell columns beyond 255 apart.
//
// A small procedure counts all entries in its slot, and those that go on with probes in a word:
//
//	if !(level == 0) { count the entry; if !(level <= 1) { count the word; text with probes; return } }
//
// Literals are functions of their own: both texts have them with their probes, and each of
// them may stand twice itself.
func (w *writer) bodies(fn *points.Func) {
	for _, r := range fn.Bodies.Redeclared {
		name := w.expand("@v%d", w.file.Offset(r.Ident.Pos()))
		w.Replace(w.file.Offset(r.Ident.Pos()), w.file.Offset(r.Ident.End()), name)
		w.insert(r.Stmt.End(), "; %s = %s", r.Ident.Name, name)
	}
	w.Own(exitsOf(fn))
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // has labels of its own
		case *ast.LabeledStmt:
			w.insert(n.Label.Pos(), "@")
		case *ast.BranchStmt:
			if n.Label != nil {
				w.insert(n.Label.Pos(), "@")
			}
		}
		return true
	})
	end := "}"
	if hasExit(fn) && fn.Type.Results.NumFields() == 0 {
		end = "; return }"
	}
	from := fn.Body.Lbrace + 1
	begin := w.expand(" if !(%s == 0) {", w.level(fn))
	levels, slot := w.levels(len(w.set.Points)+int(fn.Point)), w.expand(" @inc(%d)", fn.Point)
	switch {
	case w.set.InLine && fn.Small:
		before, after, _ := strings.Cut(levels, "{")
		begin, end = before+"{"+slot+";"+after+w.expand(" *@word(%d)++;", w.words[fn.Point]), end+" }"
	case w.set.InLine && !fn.Bare:
		begin, end = levels, end+";"+slot+" }"
	}
	without := []int{probesOf(fn), exitsOf(fn)}
	for _, lp := range fn.Probes.Loops {
		without = append(without, leavesOf(lp))
	}
	w.Own(probesOf(fn))
	w.Double(w.file.Offset(from), w.file.Offset(fn.Body.Rbrace), begin, end+w.lineAt(from), without...)
}

// levels begins the text with probes, by the n-th byte of @off, and that which counts.
func (w *writer) levels(n int) string {
	return w.expand(" if !(*(*@first)(@ptr(&@off[%[1]d])) == 0) { if !(*(*@second)(@ptr(&@off[%[1]d])) <= %[2]d) {", n,
		spec.ProcEntered)
}

// lineAt returns a comment, at the beginning of a line, that gives what follows the position of the
// original.
func (w *writer) lineAt(pos token.Pos) string {
	at := w.file.Position(pos)
	return fmt.Sprintf("\n/*line :%d:%d*/", at.Line, max(1, at.Column))
}
