package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/analysis/profile"
	"qinst.dev/report"
	"qinst.dev/trace/tracetest"
)

// The page is the same each time, needs nothing from elsewhere, and names are no markup.
func TestHTML(t *testing.T) {
	elsewhere := regexp.MustCompile(`(src|href)=|https?:|@import|url\(`)
	rapid.Check(t, func(t *rapid.T) {
		b := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		p, err := profile.New(b.Trace())
		if err != nil {
			t.Fatal(err)
		}
		p.Program = "<script>alert(1)</script>"
		var out, again bytes.Buffer
		if err := report.HTML(&out, p, report.View{}); err != nil {
			t.Fatal(err)
		}
		if err := report.HTML(&again, p, report.View{}); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Errorf("written twice it is another one, %v", err)
		}
		if found := elsewhere.Find(out.Bytes()); found != nil {
			t.Errorf("the page has %q", found)
		}
		if strings.Contains(out.String(), "<script>alert") {
			t.Error("a name is markup")
		}
	})
}

// What the page says first is what there is to do, or that there is nothing.
func TestHTMLAdvice(t *testing.T) {
	for want, second := range map[string]int64{"Nothing stands out": 9 * ms, "balance the load of the 2 goroutines main.worker": 4 * ms} {
		work := append(threads(1, tracetest.Do("main.work", 9*ms)), threads(1, tracetest.Do("main.work", second))...)
		p, err := profile.New(tracetest.Simulate(2, work).Trace())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := report.HTML(&out, p, report.View{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
