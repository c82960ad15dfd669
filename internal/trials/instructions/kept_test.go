package instructions

import (
	"slices"
	"testing"

	"qinst.dev/internal/trials/bench"
)

func TestRisen(t *testing.T) {
	t.Parallel()
	columns := []string{"instructions", "plain, M", "off, %", "count, %"}
	before := bench.Table{Columns: columns, Rows: [][]string{{"a", "100.0", "+5.0", "+20.0"},
		{"b", "100.0", "+5.0", "+20.0"}}}
	for _, c := range []struct {
		row  []string
		want []string
	}{
		{[]string{"a", "300.0", "+6.0", "+2.0"}, nil},
		{[]string{"a", "100.0", "+6.1", "+20.0"}, []string{"a: off, % was +5.0, is +6.1"}},
		{[]string{"b", "100.0", "+6.1", "+21.1"}, []string{"b: off, % was +5.0, is +6.1",
			"b: count, % was +20.0, is +21.1"}},
		{[]string{"b", "100.0", "?", "+20.0"}, []string{"b: off, % was +5.0, is ?"}},
		{[]string{"c", "100.0", "+1.0", "+1.0"}, []string{"c: no count is kept of it"}},
	} {
		if got, _ := risen(before, bench.Table{Columns: columns, Rows: [][]string{c.row}}); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, expected %q", c.row, got, c.want)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	if n, err := refsOf([]byte("==7== Cachegrind\n==7== I   refs:      1,936,915,880\n")); n != 1936915880 ||
		err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := refsOf([]byte("==7== nothing")); err == nil {
		t.Error("expected an error")
	}
}
