package rewrite

import (
	"encoding/binary"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/instrument/points"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Added returns the file that declares the names used by the probes and registers the package's
// table. It must be the first file of the compile command: package variables are initialized in
// the order of the files, so the package is registered before any of the user's own code runs.
func Added(pkg *types.Package, importPath string, set *points.Set, names Names) ([]byte, error) {
	list := slices.Clone(set.Points)
	for i := range list {
		if p := &list[i]; set.InLine && p.Kind == spec.PointProc && p.OneBody == 0 && p.Flags&spec.FlagDerived == 0 {
			p.Flags |= spec.FlagTwice
		}
	}
	for i := range list {
		if !set.InLine {
			list[i].Loop = uint32(i)
		}
	}
	for _, n := range slices.Concat(units(set), statements(set)) {
		list[n].Flags |= spec.FlagTwice
	}
	table, err := Table(importPath, list)
	if err != nil {
		return nil, err
	}
	t, err := abiTypes(pkg.Scope())
	if err != nil {
		return nil, err
	}
	counted, imports, at, more := "if @off[n] == 0 { return @call(@base + n) }", "", "", ""
	if set.InLine {
		counted, imports, at, more = "if level != 0 { return @inc(@uptr(n)) }", `import @runtime "`+Accessor+`"`, "at",
			inLine
	}
	parts := 2
	if len(set.Twins()) > 0 {
		parts = 3
	}
	return []byte(names.expand(`//go:build go1.21

package %[1]s

import @unsafe "unsafe"
%[9]s
type @u32 = %[2]s
type @u64 = %[3]s
type @string = %[4]s
type @uptr = %[5]s

// As these the tests at the entry read a level.
type (
	@first  %[7]s
	@second %[7]s
)
type @ptr = @unsafe.Pointer

// Not 0: the point is not to be reached. After these come the levels of procedures, and then, if
// there are twins, what is known of the jumps.
var @off [%[10]d*%[6]d]%[7]s

//go:linkname @enter runtime.qinst_enter
func @enter(point %[2]s) @u64

//go:linkname @exit runtime.qinst_exit
func @exit(token @u64)

//go:linkname @call runtime.qinst_call
func @call(point %[2]s) %[2]s

//go:linkname @exitall runtime.qinst_exitall
func @exitall(token @u64)

//go:linkname @leave runtime.qinst_leave
func @leave(token, trips @u64)

//go:linkname @trip runtime.qinst_trip
func @trip(token @u64)

//go:linkname @callee runtime.qinst_callee
func @callee(point %[2]s, pc @uptr) %[2]s

// A function is a pointer to a closure, which begins with the code's address; an
// interface begins with a pointer to a table in which its methods' follow.
//go:nosplit
func @code[F @any](f F) @uptr {
	p := *(*@ptr)(@ptr(&f))
	if @uptr(p) == 0 { return 0 }
	return *(*@uptr)(p)
}

// A method value is a closure that holds the receiver, behind the address of its code.
func @bound[F @any](f F) @uptr {
	p := *(*@ptr)(@ptr(&f))
	if @uptr(p) == 0 { return 0 }
	return *(*@uptr)(@unsafe.Add(p, 8))
}

func @method[I @any](x I, n @uptr) @uptr {
	p := *(*@ptr)(@ptr(&x))
	if @uptr(p) == 0 { return 0 }
	return *(*@uptr)(@unsafe.Add(p, 24+8*n))
}

func @counted(n %[2]s, level %[7]s) %[2]s { %[8]s; return 0 }

func @pass[T @any](_ %[2]s, v T) T { return v }

type @any = interface{}

func @loop(n %[2]s) (token @u64) { if @off[n] == 0 { token = @enter(@base + n) }; return token }

//go:linkname @sync runtime.qinst_sync
func @sync(point %[2]s, object, queue @uptr)

func @on(n %[2]s) %[2]s { if @off[n] == 0 { return @base + n }; return ^@u32(0) }

//go:noescape
//go:linkname @deferred runtime.qinst_deferred
func @deferred(point %[2]s, object, queue @uptr, method func())

//go:linkname @jump runtime.qinst_jump
func @jump()

// A method value with a probe; a closure as @jump finds it.
type @value struct {
	code @uptr
	point %[2]s
	object, queue @uptr
	method func()
}

func (v *@value) then() { v.method(); @sync(v.point, v.object, v.queue) }

//go:noinline
func @before(method func(), n %[2]s, queue, word @uptr) func() {
	if @off[n] != 0 { return method }
	v := &@value{@code(@jump), @base + n, (*(**[3]@uptr)(@ptr(&method)))[word], queue, method}
	return *(*func())(@ptr(&v))
}

//go:noinline
func @after(method func(), n %[2]s, queue, word @uptr) func() {
	if @off[n] != 0 { return method }
	v := &@value{0, @base + n, (*(**[3]@uptr)(@ptr(&method)))[word], queue, method}
	return v.then
}

//go:linkname @chan runtime.qinst_chan
func @chan(point %[2]s) %[2]s

func @received[T @any](v T, n %[2]s) T { if @off[n] == 0 { @chan(@base + n) }; return v }

func @got(n %[2]s, object, queue @uptr) %[2]s { if @off[n] == 0 { @sync(@base + n, object, queue) }; return 0 }

func @acquired[T @any](err T, n %[2]s, object, queue @uptr) T { if *(*@uptr)(@ptr(&err)) == 0 && @off[n] == 0 { @sync(@base + n, object, queue) }; return err }

func @many(n @u64) @uptr { if n > 1<<16 - 1 { n = 1<<16 - 1 }; return 1<<16 | @uptr(n) }

`, pkg.Name(), t.u32, t.u64, t.str, t.uptr, max(1, len(list)), t.u8, counted, imports,
		parts) + names.expand("%s", more) +
		names.register(t, "base", "off", len(list), table, at, wordsOf(set), names.twins(t, set))), nil
}

// twins declares the table of procedures with twins: the offsets of both, which the object gets in
// the end, and the point.
func (n Names) twins(t abi, set *points.Set) string {
	var b strings.Builder
	for _, twin := range set.Twins() {
		b.WriteString(n.expand("^@u32(0), ^@u32(0), %d, ", spec.TwinListed|twin.Point))
	}
	return n.expand("\n\nvar @twins = [...]%s{%s}\n", t.u32, b.String())
}

// Accessor is the package that has the address of a goroutine's ledger. A package that does not
// import it is given one with nothing else in it.
const Accessor = "runtime"

// inLine declares what counting in line needs. A slot's address is the ledger's, which is the
// goroutine's, a distance that registration gives the package, and a constant: three instructions
// with the increment. Words are as far behind slots as slots may reach. In the few functions that
// are too large for inlining these are called; they must not be stopped at their entries, because a
// call would then be counted in one ledger and its callee in another.
//
// An interface is loaded as a number, because the compiler then takes it from a register: as a
// pointer it would go through memory.
var inLine = `
var @at @uptr

//go:nosplit
func @slot(n @uptr) *@u64 { return (*@u64)(@unsafe.Add(@unsafe.Add(@runtime.QinstAt(), @at), 8*n)) }

//go:nosplit
func @word(k @uptr) *@uptr { return (*@uptr)(@unsafe.Add(@unsafe.Add(@runtime.QinstAt(), @at), ` + strconv.Itoa(8*spec.MaxProbes) + `+8*k)) }

//go:nosplit
func @behind(k @uptr) *@uptr { return (*@uptr)(@unsafe.Add(@unsafe.Add(@runtime.QinstAt(), @at), ` + strconv.Itoa(2*8*spec.MaxProbes) + `+8*k)) }

//go:nosplit
func @most(n, k @uptr) @uptr { c := *@word(k); *@slot(n)++; return c }

func @depth() *@u32 { return (*@u32)(@runtime.QinstDepth()) }

//go:nosplit
func @itab[I @any](x I) @uptr { return *(*@uptr)(@ptr(&x)) }

//go:nosplit
func @inc(n @uptr) @u32 { *@slot(n)++; return 0 }

//go:linkname @told runtime.qinst_told
func @told(word @uptr, point @u32, callee @uptr) @u32

`

// wordsOf returns the points that have a word in ledgers, in the order of the words, four bytes
// each.
func wordsOf(set *points.Set) string {
	var b []byte
	for _, n := range slices.Sorted(maps.Keys(words(set))) {
		if _, call := set.Dynamic[n]; call {
			b = binary.LittleEndian.AppendUint32(b, withMethod(set, n))
		}
	}
	for _, n := range units(set) {
		b = binary.LittleEndian.AppendUint32(b, n|spec.UnitWord)
	}
	return string(b)
}

// Sites returns the file that registers the table of a package without probes.
func Sites(pkg *types.Package, importPath string, list []points.Point, names Names) ([]byte, error) {
	table, err := Table(importPath, list)
	if err != nil {
		return nil, err
	}
	t, err := abiTypes(pkg.Scope())
	if err != nil {
		return nil, err
	}
	return []byte(names.expand(`package %s

import @unsafe "unsafe"

type @string = %s

`, pkg.Name(), t.str) + names.register(t, "sites", "sites", len(list), table, "", "", "")), nil
}

// register returns the end of such a file.
func (n Names) register(t abi, base, off string, points int, table []byte, at, callees, twins string) string {
	pairs := "@nowhere), 0"
	if twins != "" {
		pairs = "@twins), @u32(len(@twins)/3)"
	}
	if at != "" {
		at = n.expand("&@%s", at)
	} else {
		at = n.expand("*(**%s)(@unsafe.Pointer(&@nowhere))", t.uptr)
	}
	probes := points
	if off == base {
		probes = 0
	}
	quoted := strconv.QuoteToASCII(string(table))
	return n.expand(`//go:linkname @register qinst_register
func @register(base *%[1]s, points %[1]s, table @string, off @unsafe.Pointer, probes %[1]s, at *%[7]s, callees @string, twins @unsafe.Pointer, pairs %[1]s) %[2]s

// A number above any point's says that the package is not registered yet.
var @%[4]s %[1]s = 1 << 21

var _ = @register(&@%[4]s, %[3]d, *(*@string)(@unsafe.Pointer(&@table)), @unsafe.Pointer(&@%[5]s), %[6]d, %[8]s, *(*@string)(@unsafe.Pointer(&@callees)), @unsafe.Pointer(&%[9]s)

var @nowhere %[7]s

var @table = `, t.u32, t.boolean, points, base, off, probes, t.uptr, at, n.expand("%s", pairs)) + quoted +
		n.expand("\n\nvar @callees = ") + strconv.QuoteToASCII(callees) + twins + "\n"
}

// Table encodes the points as the fields of a "probes" record that follow its
// base.
func Table(importPath string, list []points.Point) ([]byte, error) {
	intern := interner{index: map[string]uint32{"": 0}, list: []string{""}}
	var (
		ids                                                                   []uint64
		kinds                                                                 []string
		names, owners, files, lines, flags, ops, representatives, loops, ends []uint32
	)
	for _, p := range list {
		ids = append(ids, p.ID)
		kinds = append(kinds, p.Kind)
		names = append(names, intern.add(p.Name))
		owners = append(owners, p.Owner)
		files = append(files, intern.add(p.File))
		lines = append(lines, p.Line)
		flags = append(flags, p.Flags)
		ops = append(ops, intern.add(p.Op))
		representatives = append(representatives, p.Representative)
		loops = append(loops, p.Loop)
		ends = append(ends, p.End)
	}
	fields := spec.Records[spec.TagProbes-1].Fields[1:]
	return sddf.AppendValues(nil, fields, importPath, intern.list, ids, kinds, names, owners, files, lines, flags, ops,
		representatives, loops, ends)
}

type interner struct {
	index map[string]uint32
	list  []string
}

func (in *interner) add(s string) uint32 {
	n, ok := in.index[s]
	if !ok {
		n = uint32(len(in.list))
		in.index[s] = n
		in.list = append(in.list, s)
	}
	return n
}

// abi are the types with which the added file declares the runtime's functions. A package may
// give any predeclared name another meaning, so each type has substitutes that are passed in the
// same way.
type abi struct{ u8, u32, u64, uptr, str, boolean string }

func abiTypes(scope *types.Scope) (t abi, err error) {
	pick := func(names ...string) string {
		for _, name := range names {
			if scope.Lookup(name) == nil {
				return name
			}
		}
		err = fmt.Errorf("the package redeclares each of %s", strings.Join(names, ", "))
		return ""
	}
	t.u32 = pick("uint32", "int32", "rune")
	t.u8 = pick("uint8", "byte", "int8")
	t.u64 = pick("uint64", "uintptr", "uint") // all machines have 64 bits; tokens are compared, so it must have no sign
	t.uptr = pick("uintptr", "uint", "int")
	t.boolean = pick("bool", "uint8", "int8", "byte")
	if t.str = "string"; scope.Lookup("string") != nil {
		t.str = "struct { data @unsafe.Pointer; len " + pick("int", "uint", "uintptr") + " }"
	}
	return t, err
}
