package browser

import (
	"fmt"
	"slices"
	"testing"
)

// What the page shows are the numbers of the commands.
func TestNumbers(t *testing.T) {
	for _, name := range []string{"locks", "quicksort", "convoy"} {
		t.Run(name, func(t *testing.T) {
			file := fileOf(t, name)
			p := open(t, serve(t, file).address, 1280)
			p.settle()
			sameItems(p, qinst(t, "report", "-json", file))
			p.tab("table")
			sameRows(p, qinst(t, "profile", "-json", file))
		})
	}
}

// sameItems compares conclusions: their texts, and their gains as the picture has them.
func sameItems(p *page, json []byte) {
	p.Helper()
	type item struct {
		Text   string
		Remark bool
		Gain   *struct {
			Low  int64 `json:"low_ns"`
			Ns   int64 `json:"ns"`
			High int64 `json:"high_ns"`
		}
	}
	all := decode[struct {
		Wall   int64 `json:"wall_ns"`
		Advice []item
	}](p.T, json)
	first := slices.DeleteFunc(all.Advice, func(x item) bool { return x.Remark })
	found := eval[[][]string](p, `[...document.querySelectorAll("ol.items > li")].map((x) => [x.querySelector(".item > div").innerText,
		x.querySelector(".gain")?.ariaLabel ?? ""])`)
	if len(found) != len(first) || len(found) == 0 {
		p.Fatalf("found %d conclusions, expected %d of the report", len(found), len(first))
	}
	for i, x := range first {
		if text := found[i][0]; len(text) < len(x.Text) || text[:len(x.Text)] != x.Text {
			p.Errorf("conclusion %d says %q, expected %q", i+1, text, x.Text)
		}
		want := ""
		if x.Gain != nil {
			want = fmt.Sprintf("%s of the run, 9 times of 10 between %s and %s", share(x.Gain.Ns, all.Wall),
				share(x.Gain.Low, all.Wall), share(x.Gain.High, all.Wall))
		}
		if found[i][1] != want {
			p.Errorf("the gain of conclusion %d is %q, expected %q", i+1, found[i][1], want)
		}
	}
}

// share is a part of the run in words: as many digits as the page gives it.
func share(ns, wall int64) string {
	x, digits := float64(ns)/float64(wall), 0
	if x < 0.1 {
		digits = 1
	}
	return fmt.Sprintf("%.*f\u00a0%%", digits, 100*x)
}

// sameRows compares the ten entries with most time.
func sameRows(p *page, json []byte) {
	p.Helper()
	type entry struct {
		Name, Kind string
		Calls      int64
		Npt        int64 `json:"npt_ns"`
	}
	entries := decode[struct{ Entries []entry }](p.T, json).Entries
	slices.SortStableFunc(entries, func(a, b entry) int { return int(b.Npt - a.Npt) })
	found := eval[[][]string](p, `[...document.querySelectorAll("tbody tr")].map((x) => [...x.cells].map((c) => c.innerText.trim()))`)
	if len(found) < 10 || len(found) != min(len(entries), 500) {
		p.Fatalf("found %d rows, expected %d", len(found), len(entries))
	}
	for i, x := range entries[:10] {
		row := found[i]
		want := []string{x.Name, x.Kind, inWords(x.Npt), fmt.Sprint(x.Calls)}
		if is := []string{row[0], row[1], row[2], row[4]}; !slices.Equal(is, want) {
			p.Errorf("row %d is %q, expected %q", i+1, is, want)
		}
	}
}

// inWords is a time with three digits.
func inWords(ns int64) string {
	for _, unit := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if x := float64(ns) / unit.ns; x >= 1 {
			digits := 2
			for ten := 10.0; x >= ten && digits > 0; ten *= 10 {
				digits--
			}
			return fmt.Sprintf("%.*f%s", digits, x, unit.name)
		}
	}
	return fmt.Sprintf("%dns", ns)
}
