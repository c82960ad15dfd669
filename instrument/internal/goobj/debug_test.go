package goobj

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTell: debuggers read the changed data of an object, and all other data are unchanged.
func TestTell(t *testing.T) {
	t.Parallel()
	_, compile, dir := compiled(t)
	write(t, dir, "user.go", `package f

var n int

func F(a int) (ʳ0 int, ʳ1 string) {
	_helper_count(); ʳ0 = a
	for range a {
		ʳ0++
		n++
	}
	_helper_slow(); return ʳ0, "x"
}
`)
	write(t, dir, "helper.go", "package f\n\nvar _helper_n int\n\nfunc _helper_count() { _helper_n++ }\n\n//go:noinline\nfunc _helper_slow() { _helper_n++ }\n")
	compile("f.a", "-p", "f", "-trimpath", dir, "user.go", "helper.go")
	archive, err := os.ReadFile(filepath.Join(dir, "f.a"))
	if err != nil {
		t.Fatal(err)
	}
	before, files := linesOf(t, archive)
	user := files["user.go"]
	all := slices.Concat(before...)
	if !slices.ContainsFunc(all, func(r row) bool { return r.file == user && r.line == 7 }) {
		t.Fatalf("found lines %v, expected line 7 of file %d", all, user)
	}
	size := len(archive)
	o, err := Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Tell(Debug{Result: "ʳ", Helper: "_helper_", Name: strings.Clone,
		Lines: map[string][]int{"helper.go": nil, "user.go": {7}}}); err != nil || len(archive) != size {
		t.Fatalf("%v, %d bytes became %d", err, size, len(archive))
	}
	for _, name := range []string{"~r0\x00\x01", "~r1\x00\x01", "runtime.__slow\x00"} {
		if !bytes.Contains(archive, []byte(name)) {
			t.Errorf("found no name %q", name)
		}
	}
	after, _ := linesOf(t, archive)
	for i, rows := range after {
		if !slices.ContainsFunc(before[i], func(r row) bool { return r.file == user }) {
			if !slices.Equal(rows, before[i]) {
				t.Errorf("lines %v of the helper's own function became %v", before[i], rows)
			}
			continue
		}
		var want []row // of a function that begins with a line of the user's
		for _, r := range before[i] {
			if r.file == user && r.line != 7 || r.prologued {
				want = append(want, r)
			}
		}
		if !slices.Equal(rows, want) {
			t.Errorf("lines %v became %v, expected %v", before[i], rows, want)
		}
	}
}

// linesOf returns the line tables of an object's functions, and the numbers of files.
func linesOf(t *testing.T, archive []byte) (tables [][]row, files map[string]uint64) {
	t.Helper()
	o, err := Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]uint64{}
	for at := o.block[blockFiles]; at < o.block[blockFiles+1]; at += 8 {
		name, err := o.name(at)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = (at-o.block[blockFiles])/8 + 1
	}
	for at := o.block[blockSymbols]; at < o.block[blockRefs]; at += symbolSize {
		if o.b[at+symbolKind] != kindLines {
			continue
		}
		data, err := o.data((at - o.block[blockSymbols]) / symbolSize)
		if err != nil {
			t.Fatal(err)
		}
		rows, _, ok := lineRows(data[lineHead : len(data)-len(lineEnd)])
		if !ok {
			t.Fatalf("found a line table %x that is not understood", data)
		}
		tables = append(tables, rows)
	}
	return tables, files
}

// TestRows: rows that are written are those that are read.
func TestRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var rows []row
		var program []byte
		was := row{line: 1, file: 1, stmt: true}
		for range 1 + r.IntN(20) {
			next := row{was.pc + r.Uint64N(1<<r.IntN(20)), 1 + r.Uint64N(300),
				was.line + r.Int64N(1<<r.IntN(16)) - r.Int64N(1<<r.IntN(16)), r.IntN(2) == 0, r.IntN(9) == 0}
			program = appendRow(program, was, next)
			rows = append(rows, next)
			was = next
		}
		got, rest, ok := lineRows(append(program, lineAdvancePC, 5))
		if !ok || rest != 5 || !slices.Equal(got, rows) {
			t.Fatalf("%v, %d, %v: expected %v", got, rest, ok, rows)
		}
	}
}

func FuzzTell(f *testing.F) {
	f.Add([]byte("!<arch>\n_go_.o          0           0     0     644     24        `\ngo object linux amd64\n!\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := Open(b); err == nil {
			_ = o.Tell(Debug{Result: "ʳ", Helper: "_qinst_", Name: strings.Clone, Lines: map[string][]int{"a.go": nil}})
		}
	})
}

// TestDamagedTables: nothing reads beyond the end of a line table.
func TestDamagedTables(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		program := make([]byte, r.IntN(60))
		for i := range program {
			program[i] = byte(r.IntN(1 << (1 + r.IntN(8))))
		}
		program = append(append([]byte{0}, program...), lineEnd...)
		if text := userLines(program, map[uint64][]int{1: {1, 2, 3}, 2: nil}); text != nil && len(text) < len(program) {
			t.Fatalf("%x became %x", program, text)
		}
	}
}
