package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var large = flag.String("large", "", "trace `file` for TestLarge, some 100 MB")

const mb = 1e6

// The page is small.
func TestTransferred(t *testing.T) {
	p := open(t, serve(t, fileOf(t, "locks")).address, 1280)
	p.settle()
	bytes := eval[float64](p, `performance.getEntriesByType("resource").filter((x) => /\.(mjs|css)$/.test(x.name))
		.reduce((sum, x) => sum + x.transferSize, 0)`)
	t.Logf("modules and styles: %.0f bytes", bytes)
	if bytes < 10e3 || bytes > 250e3 {
		t.Errorf("found %.0f bytes of modules and styles, expected some, and at most 250000", bytes)
	}
}

// A large trace takes little memory in the browser, and is drawn soon after a key.
func TestLarge(t *testing.T) {
	if *large == "" {
		t.Skip("found no -large FILE, expected a trace of some 100 MB")
	}
	file, err := filepath.Abs(*large)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, file)
	p := blank(t)
	p.patience = time.Minute
	p.size(1280)
	p.visit(s.address)
	p.settle() // conclusions are computed once, when all has been read
	p.tab("timeline")
	p.until(`document.getElementById("timeline").ariaLabel.includes("tracks")`)
	eval[chromedp.Void](p, "performance.clearResourceTimings()")
	zooms := zoom(p)
	answers := eval[[]float64](p, `performance.getEntriesByType("resource").filter((x) => x.name.includes("/api/v1/timeline"))
		.map((x) => x.responseEnd - x.requestStart)`)
	heap := p.heap()
	for _, id := range tabs {
		p.tab(id)
	}
	after := p.heap()
	t.Logf("from a zoom key to pixels: p95 %.0f ms of %d, least %.0f; answers of timeline: p95 %.1f ms of %d, least %.1f",
		p95(zooms), len(zooms), slices.Min(zooms), p95(answers), len(answers), slices.Min(answers))
	t.Logf("JavaScript heap: %.1f MB, after all views %.1f MB; the server: %s", heap/mb, after/mb, memoryOf(s.pid))
	for what, x := range map[string][2]float64{"ms from a key to pixels": {p95(zooms), 150},
		"ms for an answer of timeline": {p95(answers), 100}, "bytes of heap": {max(heap, after), 150 * mb}} {
		if x[0] > x[1] {
			t.Errorf("found %.0f %s, expected at most %.0f", x[0], what, x[1])
		}
	}
}

// zoom presses keys on the time axis, and returns the ms until what the server answered is drawn.
func zoom(p *page) (list []float64) {
	p.Helper()
	p.tabTo("#timeline")
	for i := range 40 {
		eval[chromedp.Void](p, `(() => {
			const c = document.getElementById("timeline"), before = c.ariaLabel;
			window.drawn = new Promise((done) => c.addEventListener("keydown", () => {
				const begun = performance.now(), look = () => {
					if (c.ariaLabel === before) return requestAnimationFrame(look);
					requestAnimationFrame(() => done(performance.now() - begun));
				};
				look();
			}, {once: true}));
		})()`)
		p.key([]string{"w", "w", "w", "d", "s", "d", "s", "a"}[i%8])
		list = append(list, eval[float64](p, "window.drawn"))
	}
	return list
}

func p95(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[(len(list)*95-1)/100]
}

// heap is what the page keeps, in bytes.
func (p *page) heap() (bytes float64) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return err
		}
		x, err := cdp.Call(ctx, t, runtime.GetHeapUsage, cdp.Empty{})
		bytes = x.UsedSize
		return err
	}))
	return bytes
}

// memoryOf is the memory of a process in words, where the system says it.
func memoryOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "not known"
	}
	return fmt.Sprintf("%s", regexp.MustCompile(`Vm(?:HWM|RSS):\s+\d+ kB`).FindAll(text, -1))
}
