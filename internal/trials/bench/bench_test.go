package bench

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	same := func(s string) string { return s }
	list := []string{"a", "b", "c"}
	for _, c := range []struct{ names, want []string }{{nil, list}, {[]string{"c", "a"}, []string{"a", "c"}},
		{[]string{"a", "d"}, nil}} {
		got, err := Choose(list, same, c.names)
		var usage UsageError
		if !slices.Equal(got, c.want) || errors.As(err, &usage) != (c.want == nil) {
			t.Errorf("%q: found %q and %v, expected %q", c.names, got, err, c.want)
		}
	}
}

// A table takes the place of the one with its name, and only with -update.
func TestKeep(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept.json")
	if err := os.WriteFile(file, []byte(`{"title": "T", "measurements": [{"what": "w"}], "tables": [{"columns": ["a"], "rows": [["1"]]}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, update := range []bool{false, true} {
		e := Env{Results: file, update: update}
		if err := e.Keep(Table{Columns: []string{"b"}},
			Table{Columns: []string{"a"}, Rows: [][]string{{"2"}}}); err != nil {
			t.Fatal(err)
		}
		k, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if a := k.Tables[k.Named("a")]; len(k.Measurements) == 0 || (k.Named("b") >= 0) != update ||
			(a.Rows[0][0] == "2") != update {
			t.Errorf("update %t: found %+v", update, k)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	seen, err := Watch(exec.Command("sh", "-c", "echo out; echo err >&2; exit 3"))
	if want := (Seen{"out\n", "err\n", 3}); err != nil || seen != want {
		t.Errorf("found %+v and %v, expected %+v", seen, err, want)
	}
	if _, err := Watch(exec.Command(filepath.Join(t.TempDir(), "nothing"))); err == nil {
		t.Error("expected an error of a command that does not start")
	}
}

// TestEntries reads what pprof printed of a profile of locks.
func TestEntries(t *testing.T) {
	t.Parallel()
	const text = `File: geoindex.profiled
Type: delay
Active filters:
   show=^main\.
Showing nodes accounting for 552.30ms, 99.88% of 552.94ms total
Dropped 2 nodes (cum <= 2.76ms)
      flat  flat%   sum%        cum   cum%
  403.45ms 72.96% 72.96%   403.45ms 72.96%  main.(*index).Touch (inline)
  148.86ms 26.92% 99.88%   148.86ms 26.92%  main.(*cache[go.shape.struct { a int }]).Export
         0     0% 99.88%   403.45ms 72.96%  main.main.func1
`
	got, err := Entries(text)
	want := []Entry{{403.45, 403.45, "main.(*index).Touch"},
		{148.86, 148.86, "main.(*cache[go.shape.struct { a int }]).Export"}, {0, 403.45, "main.main.func1"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %v and %v, expected %v", got, err, want)
	}
	if got, err := Entries("Showing nodes accounting for 0, 0% of 0 total\n      flat  flat%   sum%        cum   cum%\n"); err != nil || len(got) > 0 {
		t.Errorf("found %v and %v in an empty profile", got, err)
	}
	if _, err := Entries("  403.45s 72.96% 72.96%   403.45ms 72.96%  main.f\n"); err == nil {
		t.Error("expected an error of another unit")
	}
}
