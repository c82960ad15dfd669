package firefox_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/firefox"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
)

type file struct {
	Shared struct {
		StringArray []string
		Sources     struct {
			UUID     []any
			Filename []int
			Length   int
		}
		FuncTable struct {
			Name, Resource                   []int
			IsJS, RelevantForJS              []bool
			Source, LineNumber, ColumnNumber []*int
			Length                           int
		}
		FrameTable struct {
			Address, InlineDepth, Category, Subcategory, Func, InnerWindowID []int
			NativeSymbol, Line, Column                                       []*int
			Length                                                           int
		}
		StackTable struct {
			Frame  []int
			Prefix []*int
			Length int
		}
	}
	Threads []struct {
		Name, PID string
		TID       int
		Samples   struct {
			Stack        []int
			Time, Weight []float64
			WeightType   string
			Length       int
		}
	}
	Meta struct {
		Categories            []any
		InitialVisibleThreads []int
	}
}

// The time on each call path is that of the profile, by kind; columns of a table have one length,
// and indices lead into their tables.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		f := write(t, p)
		f.check(t)
		want := map[string]int64{}
		if p.Idle != 0 {
			want["npt [no processor busy]"] = p.Idle
		}
		for st := range p.Stacks() {
			path := []string{"[no procedure]"}
			if n := len(st.Frames); n > 0 {
				path = nil
				for i := range st.Frames {
					path = append(path, strings.ToValidUTF8(st.Frames[n-1-i].Name, "\ufffd"))
				}
			}
			for kind, ns := range map[string]int64{"npt": st.NPT, "busy": st.Busy, "spin": st.Spin,
				"blocked": st.Blocked, "ready": st.Ready, "syscall": st.Syscall, "off-CPU": st.Off} {
				if ns != 0 {
					want[kind+" "+strings.Join(path, ";")] += ns
				}
			}
		}
		if found := f.sums(); !reflect.DeepEqual(found, want) {
			t.Errorf("found %v, expected %v", found, want)
		}
	})
}

func write(t rapid.TB, p *profile.Profile) *file {
	var out, again bytes.Buffer
	if err := firefox.Write(&out, p, 0); err != nil {
		t.Fatal(err)
	}
	if err := firefox.Write(&again, p, 0); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same profile is other bytes, error %v", err)
	}
	f := new(file)
	if err := json.Unmarshal(out.Bytes(), f); err != nil {
		t.Fatal(err)
	}
	return f
}

// sums are the times in ns, by kind and path.
func (f *file) sums() map[string]int64 {
	sums, s := map[string]int64{}, &f.Shared
	for _, th := range f.Threads {
		for i, at := range th.Samples.Stack {
			path := ""
			for n := &at; n != nil; n = s.StackTable.Prefix[*n] {
				path = s.StringArray[s.FuncTable.Name[s.FrameTable.Func[s.StackTable.Frame[*n]]]] + ";" + path
			}
			sums[th.PID+" "+strings.TrimSuffix(path, ";")] += int64(math.Round(1e6 * th.Samples.Weight[i]))
		}
	}
	return sums
}

func (f *file) check(t rapid.TB) {
	s := &f.Shared
	for _, table := range []any{s.Sources, s.FuncTable, s.FrameTable, s.StackTable} {
		v := reflect.ValueOf(table)
		n := int(v.FieldByName("Length").Int())
		for i := range v.NumField() {
			if c := v.Field(i); c.Kind() == reflect.Slice && c.Len() != n {
				t.Errorf("column %s has %d rows of %d", v.Type().Field(i).Name, c.Len(), n)
			}
		}
	}
	inside(t, "source", s.Sources.Filename, len(s.StringArray))
	inside(t, "function", s.FuncTable.Name, len(s.StringArray))
	inside(t, "frame", s.FrameTable.Func, s.FuncTable.Length)
	inside(t, "category", s.FrameTable.Category, len(f.Meta.Categories))
	inside(t, "stack", s.StackTable.Frame, s.FrameTable.Length)
	inside(t, "visible thread", f.Meta.InitialVisibleThreads, len(f.Threads))
	for i, at := range s.StackTable.Prefix {
		if at != nil && (*at < 0 || *at >= i) {
			t.Errorf("stack %d is on %d, which is not before it", i, *at)
		}
	}
	for i, at := range s.FuncTable.Source {
		if at != nil && (*at < 0 || *at >= s.Sources.Length) {
			t.Errorf("function %d is in source %d of %d", i, *at, s.Sources.Length)
		}
	}
	for i, th := range f.Threads {
		x := &th.Samples
		if x.Length != len(x.Stack) || x.Length != len(x.Time) || x.Length != len(x.Weight) || x.WeightType != "tracing-ms" {
			t.Errorf("%s: %d samples, %d times, %d weights, %s", th.Name, x.Length, len(x.Time), len(x.Weight), x.WeightType)
		}
		inside(t, "sample", x.Stack, s.StackTable.Length)
		for k := 1; k < len(x.Time); k++ { // samples stand one after the other
			if d := x.Time[k] - x.Time[k-1] - x.Weight[k-1]; math.Abs(d) > 1e-6 {
				t.Errorf("%s: sample %d is %v ms after the end of the one before", th.Name, k, d)
			}
		}
		if th.TID != i {
			t.Errorf("thread %d has number %d", i, th.TID)
		}
	}
}

func inside(t rapid.TB, what string, list []int, n int) {
	for i, at := range list {
		if at < 0 || at >= n {
			t.Errorf("%s %d refers to %d of %d", what, i, at, n)
		}
	}
}

// A name that is no text does not make the file unreadable.
func TestNames(t *testing.T) {
	p, err := profile.New(lanestest.Named("main.\xff</script>\x00\""))
	if err != nil {
		t.Fatal(err)
	}
	f := write(t, p)
	f.check(t)
	if got := f.sums()["npt go runtime.main;main.main;go main.a;main.\ufffd</script>\x00\""]; got != 1000 {
		t.Errorf("found %d in %v", got, f.sums())
	}
}
