package fresh

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A program is some of the parts of testdata/fresh, each with a name of its own in place of the
// mechanism's, so that its source does not give it away.

// mechanism is a file of testdata/fresh.
type mechanism struct {
	name   string
	ids    []string // of the conclusions that say what is wrong
	defect bool     // it is wrong even where its repair gains nothing
	source string
	ns     float64 // how long it takes with the size of run.go
}

// part is a mechanism in a program.
type part struct {
	*mechanism
	word     string // its name there
	kernel   string // what it has for work
	size     string // the literal
	repaired bool   // it runs in its repaired form from the start
}

// program is a drawn one.
type program struct {
	blocks [][]part // one after another; those of a block at the same time
}

// parts are those that are not repaired from the start.
func (p *program) parts() (list []part) {
	for _, block := range p.blocks {
		for _, x := range block {
			if !x.repaired {
				list = append(list, x)
			}
		}
	}
	return list
}

// text names it.
func (p *program) text() string {
	var blocks []string
	for _, block := range p.blocks {
		var words []string
		for _, x := range block {
			form := ""
			if x.repaired {
				form = ", repaired"
			}
			words = append(words, fmt.Sprintf("%s (%s%s)", x.word, x.name, form))
		}
		blocks = append(blocks, strings.Join(words, " beside "))
	}
	return strings.Join(blocks, ", then ")
}

var words = strings.Fields(`orders users feed ledger tiles mail sensors billing graph images tokens routes audit stock
	lessons rides tickets papers songs recipes plants parcels votes claims loans games photos seats`)

var truth = regexp.MustCompile(`(?m)^// truth: (.*)$`)

// mechanisms reads the files of a folder.
func mechanisms(dir string) (list []*mechanism, kernels map[string]string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		m := &mechanism{name: strings.TrimSuffix(filepath.Base(file), ".go"), source: string(data)}
		if m.name == "kernels" {
			kernels, err = kernelsOf(m.source)
		}
		if is := truth.FindStringSubmatch(m.source); is != nil {
			m.ids = strings.Fields(is[1])
			m.defect = slices.Contains(m.ids, "defect")
			list = append(list, m)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(list) == 0 || kernels == nil {
		return nil, nil, fmt.Errorf("found no parts of programs in %s", dir)
	}
	return list, kernels, nil
}

// kernelsOf are the bodies of the functions kernel..., by name.
func kernelsOf(source string) (map[string]string, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "kernels.go", source, 0)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "kernel") {
			found[fn.Name.Name] = source[fn.Type.Params.Pos()-1 : fn.End()-1]
		}
	}
	return found, nil
}

// draw draws a program whose run takes about 0.1 to 1 s.
func draw(r *rand.Rand, list []*mechanism, kernels map[string]string) program {
	var p program
	names, healthy := r.Perm(len(words)), r.IntN(6) == 0
	bodies := make([]string, 0, len(kernels))
	for name := range kernels {
		bodies = append(bodies, name)
	}
	slices.Sort(bodies)
	order := r.Perm(len(list))
	n := 2 + r.IntN(3)
	for i := range n {
		x := part{mechanism: list[order[i]], word: words[names[i]], kernel: kernels[bodies[r.IntN(len(bodies))]]}
		x.repaired = healthy || r.IntN(4) == 0
		x.size = drawSize(r, x.ns, 1e6*40*math.Pow(6, r.Float64()))
		if i > 0 && r.IntN(2) == 0 {
			last := &p.blocks[len(p.blocks)-1]
			*last = append(*last, x)
		} else {
			p.blocks = append(p.blocks, []part{x})
		}
	}
	return p
}

// drawSize is a size with which a part takes about as long as wanted, if it takes ns with that of
// run.go, where items are 10 ms of work, and 20 waits take 1 ms.
func drawSize(r *rand.Rand, ns, want float64) string {
	times := max(1, want/ns)
	us := []int{5, 10, 20, 50, 100, 200, 400}[r.IntN(7)]
	wait := time.Duration(200_000 * math.Pow(25, r.Float64()))
	n := max(32, int(times*10_000/float64(us)))
	waits := max(8, int(times*20e6/float64(wait)))
	return fmt.Sprintf("size{%d, %d, %d, %d, %d}", n, us, []int{2, 3, 4, 4, 8, 12}[r.IntN(6)], waits, wait)
}

// write writes it as a module.
func (p *program) write(dir, parts string) error {
	files := map[string]string{"go.mod": "module example.com/drawn\n\ngo 1.26\n"}
	frame, err := os.ReadFile(filepath.Join(parts, "main.go"))
	if err != nil {
		return err
	}
	files["main.go"] = string(frame)
	var run strings.Builder
	run.WriteString("package main\n\nimport \"sync\"\n\nfunc run(repaired func(string) bool) {\nvar all sync.WaitGroup\n")
	imports := regexp.MustCompile(`(?s)import \(.*?\n\)\n`)
	kernels, err := os.ReadFile(filepath.Join(parts, "kernels.go"))
	if err != nil {
		return err
	}
	for _, block := range p.blocks {
		for _, x := range block {
			files[x.word+".go"] = x.named()
			files[x.word+"work.go"] = "package main\n\n" + imports.FindString(string(kernels)) + "\nfunc " + x.word + "Work" + x.kernel
			size := fmt.Sprintf("%s.of(%q)", x.size, x.word)
			call := fmt.Sprintf("if repaired(%q) {\n%sRepaired(%s)\n} else {\n%[2]s(%[3]s)\n}\n", x.word, x.word, size)
			if x.repaired {
				call = fmt.Sprintf("%sRepaired(%s)\n", x.word, size)
			}
			if len(block) > 1 {
				call = "all.Go(func() {\n" + call + "})\n"
			}
			run.WriteString(call)
		}
		run.WriteString("all.Wait()\n")
	}
	files["run.go"] = run.String() + "}\n"
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), formatted(name, text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// named is the source with the part's name in place of the mechanism's, and its own work. Comments
// would give it away.
func (x *part) named() string {
	s := strings.ReplaceAll(x.source, x.name, x.word)
	s = regexp.MustCompile(`(?m)^// .*\n|^//\n`).ReplaceAllString(s, "")
	return regexp.MustCompile(`\bwork\(`).ReplaceAllString(s, x.word+"Work(")
}

// formatted is Go source in its usual form, with the imports that it needs.
func formatted(name, text string) []byte {
	if strings.HasSuffix(name, "work.go") {
		for _, path := range []string{"crypto/sha256", "math", "slices", "strconv"} {
			if !strings.Contains(text, filepath.Base(path)+".") {
				text = strings.Replace(text, "\t\""+path+"\"\n", "", 1)
			}
		}
		text = strings.Replace(text, "import (\n)\n", "", 1)
	}
	if data, err := format.Source([]byte(text)); err == nil {
		return data
	}
	return []byte(text) // the compiler says what is wrong
}
