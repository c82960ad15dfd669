package report_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// threads are n of the same steps.
func threads(n int, ops ...tracetest.Op) (list []tracetest.Thread) {
	for range n {
		list = append(list, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return list
}

func writeHTML(w io.Writer, t *trace.Trace, p *profile.Profile) error {
	d, err := report.HTML(t, &advice.Facts{Profile: p}, report.View{})
	if err != nil {
		return err
	}
	return d.WriteHTML(w, report.Look())
}

// The page is the same each time, needs nothing from elsewhere, and names are no markup.
func TestHTML(t *testing.T) {
	elsewhere := regexp.MustCompile(`(src|href)=|https?:|@import|url\(`)
	rapid.Check(t, func(t *rapid.T) {
		b := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		tr := b.Trace()
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		p.Program = "<script>alert(1)</script>"
		var out, again bytes.Buffer
		if err := writeHTML(&out, tr, p); err != nil {
			t.Fatal(err)
		}
		if err := writeHTML(&again, tr, p); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
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

// The page begins with what there is to do, or that there is nothing.
func TestHTMLAdvice(t *testing.T) {
	for want, second := range map[string]int64{"Nothing stands out": 9e6,
		"balance the load of the 2 goroutines main.worker": 4e6} {
		work := append(threads(1, tracetest.Do("main.work", 9e6)), threads(1, tracetest.Do("main.work", second))...)
		tr := tracetest.Simulate(2, work).Trace()
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := writeHTML(&out, tr, p); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
