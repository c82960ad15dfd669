package sddf_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

type inner struct {
	Low  int8 `sddf:"low,unit=celsius"`
	High uint16
}

type level string

type everything struct {
	B    bool
	I    int
	I64  int64 `sddf:"i64,unit=bytes,doc=a doc, with a comma"`
	U    uint
	P    uintptr
	F    float32 `sddf:",unit=volts"`
	D    float64
	S    string
	L    level
	Raw  []byte
	Took time.Duration
	List []int32
	Strs []string
	Grid [2][3]uint8
	Row  [4]float64
	Path [][2]int16
	At   inner `sddf:"at"`
	inner
	Not  chan int `sddf:"-"`
	_    int
	When time.Time
}

var all = sddf.Define[everything]("everything")

// A struct's descriptor matches its declaration, and written values can be read.
func TestDefine(t *testing.T) {
	t.Parallel()
	rec := all.Record()
	var got []string
	for _, f := range rec.Fields {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Name, f.Type, f.Unit)))
	}
	want := "B bool, I i64, i64 i64 bytes, U u64, P u64, F f32 volts, D f64, S str, L str, Raw bytes, Took dur, List []i32, Strs []str, " +
		"Grid [][]u8, Row []f64, Path [][]i16, at.low i8 celsius, at.High u16, low i8 celsius, High u16, When time"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("fields %s\nwant %s", s, want)
	}
	if rec.Fields[2].Doc != "a doc, with a comma" {
		t.Errorf("doc %q", rec.Fields[2].Doc)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := everything{B: rapid.Bool().Draw(t, "b"), I: rapid.Int().Draw(t, "i"), I64: rapid.Int64().Draw(t, "i64"),
			U: rapid.Uint().Draw(t, "u"),
			F: rapid.Float32().Draw(t, "f"), D: rapid.Float64().Draw(t, "d"), S: rapid.String().Draw(t, "s"),
			L:   level(rapid.String().Draw(t, "l")),
			Raw: rapid.SliceOf(rapid.Byte()).Draw(t, "raw"), Took: time.Duration(rapid.Int64().Draw(t, "took")),
			List: rapid.SliceOf(rapid.Int32()).Draw(t, "list"), Strs: rapid.SliceOf(rapid.String()).Draw(t, "strs"),
			inner: inner{rapid.Int8().Draw(t, "low"), rapid.Uint16().Draw(t, "high")},
			When:  time.Unix(0, rapid.Int64().Draw(t, "when"))}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			x.Path = append(x.Path, [2]int16{rapid.Int16().Draw(t, "x"), rapid.Int16().Draw(t, "y")})
		}
		x.At.Low = rapid.Int8().Draw(t, "at")
		for i := range x.Grid {
			for k := range x.Grid[i] {
				x.Grid[i][k] = rapid.Uint8().Draw(t, "cell")
			}
		}
		var out bytes.Buffer
		w := sddf.NewWriter(&out, "t", nil)
		if err := all.Write(w, x); err != nil {
			t.Fatal(err)
		}
		all.Write(w, x)
		w.Close()
		r, err := sddf.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for p, err := range r.Packets() {
			if err != nil {
				t.Fatal(err)
			}
			if p.Kind != spec.Data {
				continue
			}
			found++
			var y everything
			if err := all.Decode(p, &y); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%+v", x) != fmt.Sprintf("%+v", y) {
				t.Fatalf("got %+v, want %+v", y, x)
			}
		}
		if found != 2 {
			t.Fatalf("%d records", found)
		}
	})
}

// A type that cannot be a record is an error when it is defined, in words.
func TestDefineRejects(t *testing.T) {
	t.Parallel()
	for want, define := range map[string]func(){
		"expected a struct":        func() { sddf.Define[int]("x") },
		"has no field":             func() { sddf.Define[struct{ a int }]("x") },
		"field M: found a map":     func() { sddf.Define[struct{ M map[int]int }]("x") },
		"field P: found a *int":    func() { sddf.Define[struct{ P *int }]("x") },
		"field L: found a [][]int": func() { sddf.Define[struct{ L [][]int }]("x") },
		"second field \"a\"": func() {
			sddf.Define[struct {
				A int `sddf:"a"`
				B int `sddf:"a"`
			}]("x")
		},
		"expected unit= or doc=": func() {
			sddf.Define[struct {
				A int `sddf:"a,units=ns"`
			}]("x")
		},
		"found the name \"\"": func() { sddf.Define[struct{ A int }]("") },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}()
			define()
		}()
	}
	if _, err := sddf.NewDescriptor("x", spec.Field{Name: "a", Type: "int"}); err == nil ||
		!strings.Contains(err.Error(), `unknown type "int"`) {
		t.Errorf("type int: %v", err)
	}
}

// A dynamic record's values are checked, observed or not.
func TestDescriptor(t *testing.T) {
	t.Parallel()
	d, err := sddf.NewDescriptor("d", spec.Field{Name: "n", Type: spec.U8}, spec.Field{Name: "list", Type: "[]f64"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Emit(256, []float64{1}); err == nil {
		t.Error("256 is a u8")
	}
	if err := d.Emit(1); err == nil {
		t.Error("one value for two fields")
	}
	if err := d.Emit(255, []float64{1}); err != nil {
		t.Error(err)
	}
}

// Decoding into a type that the values do not fit says which.
func TestDecodeMismatch(t *testing.T) {
	t.Parallel()
	type wide struct{ N int64 }
	type narrow struct{ N int8 }
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "t", nil)
	sddf.Define[wide]("n").Write(w, wide{1000})
	w.Close()
	ps, err := read(t, out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var n narrow
	if err := sddf.Define[narrow]("n").Decode(ps[1], &n); err == nil || !strings.Contains(err.Error(), `field "N"`) {
		t.Errorf("%v", err)
	}
}

// Programs that import the package get nothing from elsewhere.
func TestStandardOnly(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		"qinst.dev/sddf", "qinst.dev/extensions/qinst").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(string(out)), []string{"qinst.dev/sddf/spec", "qinst.dev/sddf",
		"qinst.dev/extensions/qinst"}; !reflect.DeepEqual(got, want) {
		t.Errorf("depends on %q, want %q", got, want)
	}
}

// Emit allocates nothing: what a record is encoded in does not escape.
func TestNoAllocation(t *testing.T) {
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "t", nil)
	x := everything{S: "text", List: []int32{1, 2, 3}, Raw: make([]byte, 10)}
	all.Write(w, x)
	if n := testing.AllocsPerRun(100, func() { all.Emit(x); all.Write(w, x) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
