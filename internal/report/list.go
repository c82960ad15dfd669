package report

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// lineCost is the cost of a line of source.
type lineCost struct {
	self    int64 // npt of the loop whose head it is, or of the rest of the procedure
	guess   bool  // self is an estimate
	whole   int64 // npt of the loop whose head it is, and of goroutines that it starts
	called  int64 // npt of its callees
	blocked int64
	times   trace.Estimate
	shared  bool // npt is an estimate, or called a share by calls: other lines call the same procedure
}

// npt returns the line's NPT. It is the maximum and not the sum, because the calls may be in the
// loop.
func (c *lineCost) npt() int64 { return max(c.whole, c.called) }

type sourceLine struct {
	file string
	line int
}

// List writes the source of the procedures that are chosen, with the cost of each line: self time,
// calls, loops, go statements and waits.
func List(w io.Writer, width int, p *profile.Profile, choice *names.Choice, sources Sources) error {
	procs := kept(p, func(e *profile.Entry) bool { return e.Kind == profile.KindProc && e.File != "" })
	inlined := p.Inlined()
	for i := range inlined { // pages have their names where goroutines wait in them
		procs = append(procs, &inlined[i])
	}
	var all []string
	for _, e := range procs {
		all = append(all, e.Name)
	}
	choice, err := choice.In("procedure that was called", all)
	if err != nil {
		return fmt.Errorf("-list: %w", err)
	}
	procs = slices.DeleteFunc(procs, func(e *profile.Entry) bool { return !choice.Matches(e.Name) })
	for _, n := range p.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	fmt.Fprintf(w, "self: with ~, npt of lines at which samples found the procedure itself; without samples, npt of loops on the lines of their heads, and of all else on the first line\n\n")
	costs := lineCosts(p)
	missing := error(nil)
	for _, e := range procs {
		lines, end, err := sourceOf(e, sources)
		if err != nil {
			missing = cmp.Or(missing, err)
			continue
		}
		fmt.Fprintf(w, "%s  %s:%d\n", measure.Visible(e.Name), measure.Visible(e.File), e.Line)
		if e.ID == "" {
			fmt.Fprintf(w, "  the compiler inlines it: it has no probes, and its time is in its callers' lines\n")
		} else {
			fmt.Fprintf(w, "  self npt %s, npt %s (%s), busy %s, blocked %s, %s calls\n",
				estimated(e.SelfNPT, e.SelfNPTs), estimated(e.NPT, e.NPTs),
				measure.Percent(e.NPT, p.Wall), measure.Time(e.Busy), measure.Time(e.Blocked), hits(e.Called()))
		}
		t := doc.NewTable("", "self", "npt", "blocked", "times", "").Left(5)
		for _, l := range listed(e, lines, end, costs) {
			t.Row("", l.Self, l.NPT, l.Blocked, l.Times, fmt.Sprintf("%4d  %s", l.Number, l.Text))
		}
		if err := t.WriteText(w, "", width); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return missing
}

// SourceLine is a line of a procedure with its cost, in words; empty: it has none.
type SourceLine struct {
	Number  int    `json:"line"`
	Text    string `json:"text"`
	Self    string `json:"self,omitempty"`
	NPT     string `json:"npt,omitempty"`
	Blocked string `json:"blocked,omitempty"`
	Times   string `json:"times,omitempty"`
}

// Source are the lines of the procedure of an entry.
func Source(p *profile.Profile, e *profile.Entry, sources Sources) ([]SourceLine, error) {
	lines, end, err := sourceOf(e, sources)
	if err != nil {
		return nil, err
	}
	return listed(e, lines, end, lineCosts(p)), nil
}

// listed are the lines from an entry's first one to another.
func listed(e *profile.Entry, lines []string, end int, costs map[string]map[sourceLine]*lineCost) (list []SourceLine) {
	for n := e.Line; n <= end && n <= len(lines); n++ {
		c := costs[e.Name][sourceLine{e.File, n}]
		if c == nil {
			c = &lineCost{}
		}
		list = append(list, SourceLine{n, strings.ReplaceAll(lines[n-1], "\t", "    "), marked(c.self, c.guess),
			marked(c.npt(), c.shared), nonzero(c.blocked), times(c.times)})
	}
	return list
}

// marked is a time that may be an estimate, and nothing if there is none.
func marked(ns int64, guess bool) string {
	if guess && ns != 0 {
		return "~" + nonzero(ns)
	}
	return nonzero(ns)
}

func nonzero(ns int64) string {
	if ns == 0 {
		return ""
	}
	return measure.Time(ns)
}

func times(n trace.Estimate) string {
	if n.Value == 0 {
		return ""
	}
	return hits(n)
}

// lineCosts are the costs of the lines of each procedure.
func lineCosts(p *profile.Profile) map[string]map[sourceLine]*lineCost {
	all := map[string]map[sourceLine]*lineCost{}
	at := func(proc, file string, line int) *lineCost {
		if all[proc] == nil {
			all[proc] = map[sourceLine]*lineCost{}
		}
		c := all[proc][sourceLine{file, line}]
		if c == nil {
			c = &lineCost{}
			all[proc][sourceLine{file, line}] = c
		}
		return c
	}
	procs := procedures(p)
	for i := range p.Entries {
		switch e := &p.Entries[i]; e.Kind {
		case profile.KindProc:
			for _, l := range e.Lines {
				c := at(e.Name, e.File, l.Line)
				c.self, c.guess = l.SelfNPT, true
			}
			if len(e.Lines) > 0 {
				continue
			}
			c := at(e.Name, e.File, e.Line)
			c.self, c.guess = c.self+e.SelfNPT, c.guess || e.SelfNPTs != nil
		case profile.KindLoop:
			proc, _, _ := strings.Cut(e.Name, ": ")
			c := at(proc, e.File, e.Line)
			c.shared = c.shared || e.NPTs != nil
			if of := procs[proc]; of == nil || len(of.Lines) == 0 {
				c.self, c.guess = c.self+e.SelfNPT, c.guess || e.SelfNPTs != nil
				if of != nil { // whose self time has the loop's
					at(proc, of.File, of.Line).self -= e.SelfNPT
				}
			}
			c.whole, c.times = c.whole+e.NPT, c.times.Plus(e.Called())
		case profile.KindGoroutine:
			if file, line, ok := cutLine(e.Site); ok {
				c := at(e.Creator, file, line)
				c.whole, c.times = c.whole+e.NPT, c.times.Plus(e.Called())
			}
		}
	}
	calls := map[[2]string][]*profile.Call{}
	for i := range p.Calls {
		c := &p.Calls[i]
		calls[[2]string{c.Caller, c.Callee}] = append(calls[[2]string{c.Caller, c.Callee}], c)
		if l := at(c.Caller, c.File, c.Line); c.Via == "" && l.whole == 0 {
			l.times = l.times.Plus(c.Number())
		}
	}
	for pair, npt := range calledNPT(p) {
		share(calls, pair, npt, false, 0, func(c *profile.Call, npt int64, shared bool) {
			l := at(c.Caller, c.File, c.Line)
			l.called += npt
			l.shared = l.shared || shared || procs[pair[1]] != nil && procs[pair[1]].NPTs != nil
		})
	}
	for _, l := range p.WaitLines() {
		at(l.Function, l.File, l.Line).blocked += l.Time
	}
	return all
}

// procedures are the entries of procedures by name.
func procedures(p *profile.Profile) map[string]*profile.Entry {
	procs := map[string]*profile.Entry{}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindProc {
			procs[e.Name] = e
		}
	}
	return procs
}

// share divides the npt of a called procedure among the calls of it, by how many there
// were. That of a call in an inlined function is that function's calls' too.
func share(calls map[[2]string][]*profile.Call, pair [2]string, npt int64, shared bool, depth int,
	give func(*profile.Call, int64, bool)) {
	list := calls[pair]
	made := uint64(0)
	for _, c := range list {
		made += c.Count
	}
	shared = shared || len(list) > 1
	for _, c := range list {
		part := int64(float64(npt) * float64(c.Count) / float64(made))
		give(c, part, shared)
		if c.Via != "" && depth < 8 {
			share(calls, [2]string{pair[0], c.Via}, part, shared, depth+1, give)
		}
	}
}

// calledNPT returns the NPT of procedures on behalf of their callers.
func calledNPT(p *profile.Profile) map[[2]string]int64 {
	pairs := map[[2]string]int64{}
	seen := map[[2]string]bool{}
	for st := range p.Stacks() {
		clear(seen)
		for i := 0; i+1 < len(st.Frames); i++ {
			pair := [2]string{st.Frames[i+1].Name, st.Frames[i].Name}
			if !st.Frames[i].Start && !st.Frames[i+1].Start && !seen[pair] {
				seen[pair] = true
				pairs[pair] += st.NPT
			}
		}
	}
	return pairs
}

func cutLine(site string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(site, ':')
	if i < 0 {
		return "", 0, false
	}
	_, err := fmt.Sscan(site[i+1:], &line)
	return site[:i], line, err == nil
}

// sourceOf reads a procedure's file, and finds the line of its end.
func sourceOf(e *profile.Entry, sources Sources) (lines []string, end int, err error) {
	text, err := sources.read(e.File)
	if err != nil {
		return nil, 0, err
	}
	lines = strings.Split(string(text), "\n")
	if e.Line > len(lines) {
		return nil, 0, fmt.Errorf("%s has %d lines, expected %s at line %d: it is not the source that the program was built from", e.File, len(lines), e.Name, e.Line)
	}
	if end = endOf(e.File, text, e.Line); end == 0 {
		if end = slices.Index(lines[e.Line-1:], "}") + e.Line; end < e.Line {
			end = e.Line
		}
	}
	return lines, end, nil
}

// endOf is the last line of the function that begins at a line, 0 if there is none.
func endOf(file string, text []byte, line int) (end int) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, bytes.Clone(text), parser.SkipObjectResolution)
	if f == nil || err != nil {
		return 0
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if fset.PositionFor(n.Pos(), false).Line == line {
				end = max(end, fset.PositionFor(n.End(), false).Line)
			}
		}
		return true
	})
	return end
}
