package inject

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

var update = flag.Bool("update", false, "write _rt/base_spec.go")

// specConstants are the constants of package spec that the runtime may need, by name and
// in the order of their source: the package's numbers, and the texts of its headers.
func specConstants(t *testing.T) (names []string, values map[string]constant.Value, docs map[string]string) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range []string{"records.go", "ring.go", "spec.go"} {
		f, err := parser.ParseFile(fset, filepath.Join("..", "..", "sddf", "spec", name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("spec", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{} // comments behind constants
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && v.Comment != nil {
				said[v.Names[0].Name] = strings.TrimSpace(v.Comment.Text())
			}
			return true
		})
	}
	values, docs = map[string]constant.Value{}, map[string]string{}
	at := map[string]token.Pos{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || c.Val().Kind() == constant.String && name != "Magic" && name != "PartSuffix" &&
			!strings.HasPrefix(name, "Attr") {
			continue
		}
		ours := name
		if named, ok := c.Type().(*types.Named); ok && named.Obj().Name() == "PacketKind" {
			ours = "Packet" + name
		}
		names = append(names, ours)
		values[ours], docs[ours], at[ours] = c.Val(), said[name], c.Pos()
	}
	slices.SortFunc(names, func(a, b string) int { return int(at[a] - at[b]) })
	return names, values, docs
}

// TestConstants checks that the runtime's constants of the format are those of package
// spec: each by its name, so that a word put between others moves those after it here,
// too. The flag -update writes the file.
func TestConstants(t *testing.T) {
	t.Parallel()
	names, values, docs := specConstants(t)
	if len(names) < 100 {
		t.Fatalf("found %d constants in package spec", len(names))
	}
	var b bytes.Buffer
	b.WriteString("package runtime\n\n// Constants of package spec, written by \"go test ./runtime/inject -run TestConstants -update\".\n\nconst (\n")
	for _, name := range names {
		if docs[name] != "" {
			fmt.Fprintf(&b, "// %s\n", docs[name])
		}
		fmt.Fprintf(&b, "qinst%s = %s\n", name, values[name].ExactString())
	}
	b.WriteString(")\n")
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	const file = "_rt/base_spec.go"
	if *update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what package spec says (%v); -update writes it", file, err)
	}
}

// TestRingWords checks that the runtime says every word of the ring's head: readers take
// one that it leaves out for 0.
func TestRingWords(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("_rt/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f) != "base_spec.go" {
			all.Write(text)
		}
	}
	names, _, _ := specConstants(t)
	words := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "RingWord") || name == "RingWords" {
			continue
		}
		words++
		if !regexp.MustCompile(`\bqinst` + name + `\b`).Match(all.Bytes()) {
			t.Errorf("nothing in _rt sets the word qinst%s", name)
		}
	}
	if words != spec.RingWordClock+1 {
		t.Errorf("found %d words, expected %d", words, spec.RingWordClock+1)
	}
}

// TestEndReasons checks that the runtime's reasons of an end are those of package spec, in their
// order: a ring has a reason's number.
func TestEndReasons(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("_rt/writer.go")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("var qinstWhyText = %#v\n", spec.EndReasons)
	want = strings.Replace(want, fmt.Sprintf("[%d]", len(spec.EndReasons)), "[...]", 1)
	if !bytes.Contains(text, []byte(want)) {
		t.Errorf("_rt/writer.go lacks %s", want)
	}
}

// TestRecordWriters compiles the functions that write records as a program, runs it, and
// reads what it wrote: each field is in its place.
func TestRecordWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	encode, err := os.ReadFile("_rt/writer_encode.go")
	if err != nil {
		t.Fatal(err)
	}
	check, err := os.ReadFile("_rt/writer_check.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"generated.go": text,
		"encode.go":    encode,
		"check.go":     check,
		"main.go":      []byte(writerProgram()),
		"go.mod":       []byte("module example.com/writers\n\ngo 1.26\n"),
	} {
		text = bytes.Replace(text, []byte("package runtime\n"), []byte("package main\n"), 1)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	packets, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	file := sddf.AppendHeader(nil, "qinst")
	for i := range spec.Records {
		file = sddf.AppendDescriptor(file, &spec.Records[i])
	}
	file = append(file, packets...)
	r, err := sddf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for p, err := range r.Records() {
		if err != nil {
			t.Fatal(err) // of the check at the end, too
		}
		rec := p.Record
		large := seen[rec.Name]
		seen[rec.Name]++
		for i, f := range rec.Fields {
			if blob, ok := p.Values[i].(sddf.Blob); ok {
				if p.Values[i], err = r.ReadBlob(nil, blob); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := fmt.Sprint(p.Values[i]), fmt.Sprint(wantValue(rec, i, large)); got != want {
				t.Errorf("record %q: field %q is %s, want %s", rec.Name, f.Name, got, want)
			}
		}
	}
	for i := range spec.Records {
		if r := &spec.Records[i]; writes(r) != (seen[r.Name] == 2) {
			t.Errorf("found %d records %q", seen[r.Name], r.Name)
		}
	}
}

// writerProgram writes two records of each kind, one of small values and one of large.
func writerProgram() string {
	var b strings.Builder
	b.WriteString(`package main

import ("os"; "unsafe")

const (
	qinstPacketData = ` + fmt.Sprint(int(spec.Data)) + `
	qinstPacketCheck = ` + fmt.Sprint(int(spec.Check)) + `
)

var qinstOut struct { n uintptr; buf [1<<20]byte }

func qinstByte(b byte) { qinstOut.buf[qinstOut.n] = b; qinstOut.n++ }

func qinstWriteBehind(p, n uintptr) { qinstQueue(p, n) }

func qinstQueue(p, n uintptr) { for _, b := range unsafe.Slice((*byte)(unsafe.Pointer(p)), n) { qinstByte(b) } }

func qinstChecksum(sum uint32, p, n uintptr) uint32 { panic("not here") }

func main() {
	qinstCheck.packets, qinstCheck.sums = qinstPreamblePackets, qinstPreambleSums
`)
	for i := range spec.Records {
		r := &spec.Records[i]
		for large := 0; large < 2 && writes(r); large++ {
			var args []string
			rest, seal := "", ""
			for k, f := range r.Fields {
				switch f.Type {
				case spec.Packed:
					block := packed(r)
					args = append(args, fmt.Sprint(8*len(block)))
					for _, w := range block {
						rest += fmt.Sprintf("qinstWord(%d);", w)
					}
					seal = "qinstSeal()"
				case "[]" + spec.U64:
					args, rest, seal = append(args, "1"), "qinstU64(7);", "qinstSeal()"
				default:
					args = append(args, fmt.Sprintf("%#v", wantValue(r, k, large)))
				}
			}
			fmt.Fprintf(&b, "\tqinstRecord%s(%s)\n\t%s\n", camel(r.Name), strings.Join(args, ", "), rest+seal)
		}
	}
	return b.String() + "\tqinstWriteCheck()\n\t_, _ = os.Stdout.Write(qinstOut.buf[:qinstOut.n])\n}\n"
}

// packed is an entry of a record's packed field.
func packed(r *spec.Record) []uint64 {
	v := r.Layout.Variants[0]
	if v.Kind > 0 {
		return []uint64{uint64(v.Kind)<<24 | 7}
	}
	return slices.Repeat([]uint64{7}, v.Words)
}

// wantValue is the value of field i of a record of writerProgram.
func wantValue(r *spec.Record, i, large int) any {
	switch r.Fields[i].Type {
	case spec.U8:
		return 100 + i + 100*large
	case spec.U32:
		return uint32(1000+i) << (20 * large)
	case spec.U64:
		return uint64(1000+i) << (50 * large)
	case spec.I32:
		return int32(-1000 - i)
	case spec.I64:
		return int64(-1000-i) << (40 * large)
	case spec.F64:
		return 0.5 + float64(i)
	case spec.Str:
		return fmt.Sprintf("text %d%s", i, strings.Repeat("x", 300*large))
	case spec.Packed:
		var b []byte
		for _, w := range packed(r) {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
	return []uint64{7}
}
