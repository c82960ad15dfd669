package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/steps"
	analysis "qinst.dev/internal/analysis/why"
	"qinst.dev/internal/lab/gate"
	"qinst.dev/internal/lab/verify"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/doc"
)

var updateJSON = flag.Bool("update-json", false, "write docs/guide/json.md")

// jsonObjects are what commands print with -json.
var jsonObjects = []struct {
	command, what string
	object        any
}{
	{"report", "The profile of the whole run, the conclusions, and the page's sections.", report.PageObject{}},
	{"profile", "The profile, or the part of it that flags select.", profile.Profile{}},
	{"profile -runs", "Means over several runs; -n prints the same.", profile.Runs{}},
	{"critical", "What the length of the run depends on. With -requests the list of requests alone, with -request their paths.", criticalObject{}},
	{"predict", "Computed runs.", predictObject{}},
	{"correct", "The run without the cost of probes.", correctObject{}},
	{"spt", "What an experiment with delays tells.", sptObject{}},
	{"why", "What to change in a program, with gains and tests.", analysis.Answer{}},
	{"gate", "The comparison of two builds.", gate.Object{}},
	{"check", "The gain of a change, beside what was promised of it.", gate.ProofObject{}},
	{"verify", "Figures of qinst next to the truth.", verify.Result{}},
	{"doe plan", "A plan of experiments.", planObject{}},
	{"doe fit", "The effects of factors.", doe.Fit{}},
	{"points", "One object a line, for each point and each skip.", pointLine{}},
	{"cost", "What probes cost on this machine.", costReport{}},
}

const jsonHead = `# JSON

Which keys has the output of a command with ` + "`-json`" + `, what do they mean, and what are their units?

    $ qinst critical -json testdata/kept/fig4.sddf | cut -c 1-13
    {"version":1,

` + "`go test ./cmd/qinst -run TestJSONGuide -update-json`" + ` writes this page from the types that commands
print. These rules hold for all of them:

- The object has ` + "`version`" + `. Fields are added and never renamed; the number changes when a field's
  meaning does.
- Keys that end with ` + "`_ns`" + ` are times in nanoseconds, ` + "`_pct`" + ` are percentages, and ` + "`_bytes`" + ` are bytes.
  Keys without such an end are numbers of things, shares between 0 and 1, or text, as the line says.
- *may be absent*: the key is not there if its value would be 0, false, empty or not known.
- *or null*: the value is not known, or there is none. A list may be null where it is empty.
- Names are those of the tables, in full.

`

// TestJSONGuide keeps the page of JSON keys.
func TestJSONGuide(t *testing.T) {
	t.Parallel()
	g := &jsonGuide{comments: map[string]map[string]string{}, told: map[reflect.Type]string{}}
	var page bytes.Buffer
	page.WriteString(jsonHead)
	for _, o := range jsonObjects {
		fmt.Fprintf(&page, "## qinst %s -json\n\n%s\n\n", o.command, lines(o.what))
		g.object(&page, reflect.TypeOf(o.object))
	}
	page.WriteString("## Objects in these\n\n")
	for len(g.next) > 0 {
		typ := g.next[0]
		g.next = g.next[1:]
		fmt.Fprintf(&page, "### %s\n\n", g.told[typ])
		if text := g.comment(typ, "", false); text != "" {
			fmt.Fprintf(&page, "%s\n\n", lines(text))
		}
		g.object(&page, typ)
	}
	want := append(bytes.TrimRight(page.Bytes(), "\n"), '\n')
	file := filepath.Join("..", "..", "docs", "guide", "json.md")
	if *updateJSON {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the commands print; -update-json writes it", file)
	}
}

// Every command with a flag -json is on the page.
func TestJSONGuideWhole(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		fs := newFlagSet(c.name)
		c.setup(fs)
		on := slices.ContainsFunc(jsonObjects, func(o struct {
			command, what string
			object        any
		}) bool {
			return strings.Fields(o.command)[0] == c.name
		})
		if has := fs.Lookup("json") != nil && c.name != "dump"; has != on { // dump has the file's records
			t.Errorf("%s: has -json: %t, is on the page: %t", c.name, has, on)
		}
	}
}

// goWord matches what may be an identifier.
var goWord = regexp.MustCompile(`\b\w+\b`)

// jsonGuide writes the keys of types.
type jsonGuide struct {
	comments map[string]map[string]string // by package, then Type.Field
	told     map[reflect.Type]string      // headings of types
	next     []reflect.Type
}

// object writes a table of a type's keys.
func (g *jsonGuide) object(w *bytes.Buffer, t reflect.Type) {
	w.WriteString("| key | value | |\n|---|---|---|\n")
	g.fields(w, t)
	w.WriteString("\n")
}

func (g *jsonGuide) fields(w *bytes.Buffer, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		under := f.Type
		if under.Kind() == reflect.Pointer {
			under = under.Elem()
		}
		switch {
		case name == "-" && options == "":
		case f.Anonymous && name == "" && under.Kind() == reflect.Struct && !marshals(under):
			g.fields(w, under)
		case !f.IsExported():
		default:
			if name == "" {
				name = f.Name
			}
			value := g.value(f.Type)
			optional := strings.Contains(options, "omit")
			if optional {
				value = strings.TrimSuffix(value, " or null") + ", may be absent"
			}
			fmt.Fprintf(w, "| `%s` | %s | %s |\n", name, value, cmp.Or(g.comment(t, f.Name, optional), usualKeys[name]))
		}
	}
}

// marshals reports whether a type says itself what it is in JSON.
func marshals(t reflect.Type) bool {
	m := reflect.TypeFor[json.Marshaler]()
	return t.Implements(m) || reflect.PointerTo(t).Implements(m)
}

// value says what JSON has for a type.
func (g *jsonGuide) value(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[doc.Cell]():
		return "text or number"
	case reflect.TypeFor[steps.Remarks]():
		return "list of text"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Pointer:
		return g.value(t.Elem()) + " or null"
	case reflect.Slice:
		return "list of " + g.value(t.Elem()) + " or null"
	case reflect.Array:
		return fmt.Sprintf("list of %d: %s", t.Len(), g.value(t.Elem()))
	case reflect.Map:
		return fmt.Sprintf("object: %s by name", g.value(t.Elem()))
	case reflect.Interface:
		return "any"
	case reflect.Struct:
		return g.link(t)
	}
	return "whole number"
}

// link names the heading of a type, which is written once.
func (g *jsonGuide) link(t reflect.Type) string {
	if g.told[t] == "" {
		name := strings.TrimSuffix(t.Name(), "JSON")
		if name == strings.ToUpper(name) {
			name = strings.ToLower(name)
		}
		name = strings.ToLower(name[:1]) + name[1:]
		for _, other := range g.told {
			if other == name {
				name = filepath.Base(t.PkgPath()) + "." + name
			}
		}
		g.told[t] = name
		g.next = append(g.next, t)
	}
	return fmt.Sprintf("[%s](#%s)", g.told[t], strings.ReplaceAll(strings.ToLower(g.told[t]), ".", ""))
}

// lines are those of a paragraph.
func lines(text string) string { return strings.Join(wrapped(text, 100), "\n") }

// usualKeys are those that need no comment where they are defined.
var usualKeys = map[string]string{
	"version": "of the meaning of these keys",
	"name":    "as tables have it, in full",
	"file":    "of the source",
	"line":    "of the source",
}

// comment is what the source says of a field, or of the type if it is empty. Fields are named there
// as in Go, and what has no value is nil.
func (g *jsonGuide) comment(t reflect.Type, field string, optional bool) string {
	if g.comments[t.PkgPath()] == nil {
		g.comments[t.PkgPath()] = commentsOf(t.PkgPath())
	}
	text := goWord.ReplaceAllStringFunc(g.comments[t.PkgPath()][t.Name()+"."+field], func(word string) string {
		if word == "nil" && optional {
			return "absent"
		} else if word == "nil" {
			return "null"
		}
		f, ok := t.FieldByName(word)
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); ok && key != "" && key != "-" {
			return "`" + key + "`"
		}
		return word
	})
	text = strings.NewReplacer("|", `\|`, "[", "", "]", "", "<", "&lt;").Replace(strings.Join(strings.Fields(text), " "))
	return text
}

// commentsOf are the comments of the fields in a package.
func commentsOf(path string) map[string]string {
	list := map[string]string{}
	files, _ := filepath.Glob(filepath.Join("..", "..", strings.TrimPrefix(path, "qinst.dev/"), "*.go"))
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		docs := map[string]string{}
		ast.Inspect(f, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 {
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
					docs[s.Name.Name] = d.Doc.Text()
				}
			}
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			list[spec.Name.Name+"."] = docs[spec.Name.Name]
			for _, field := range s.Fields.List {
				for _, name := range field.Names {
					list[spec.Name.Name+"."+name.Name] = field.Doc.Text() + field.Comment.Text()
				}
			}
			return true
		})
	}
	return list
}
