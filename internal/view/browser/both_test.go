package browser

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"qinst.dev/internal/trace/tracetest"
)

// locked is the file of a trace in which four goroutines work under a lock, for some ns each time.
func locked(t *testing.T, ns int64) string {
	t.Helper()
	var threads []tracetest.Thread
	for i := range 4 {
		var ops []tracetest.Op
		for range 50 {
			ops = append(ops, tracetest.Lock("main.mu"), tracetest.Do("main.f", ns), tracetest.Unlock("main.mu"),
				tracetest.Do("main.g", 5000))
		}
		threads = append(threads, tracetest.Thread{Name: fmt.Sprintf("main.worker%d", i), Ops: ops})
	}
	file := filepath.Join(t.TempDir(), "locked.sddf")
	if err := tracetest.Simulate(4, threads).WriteFile(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// axis is a time axis of a run: where it begins and ends, and how many ns a pixel has.
type axis struct{ From, To, Pixel float64 }

// axes are those of the two runs, as their labels and their pictures say.
func (p *page) axes() [2]axis {
	p.Helper()
	return eval[[2]axis](p, `[...document.querySelectorAll(".axis")].map((a) => {
		const ns = (text) => parseFloat(text) * { s: 1e9, ms: 1e6, us: 1e3, ns: 1 }[text.replace(/[\d.]+/, "") || "ns"];
		const [from, to] = [...a.querySelectorAll(".ends span")].map((x) => ns(x.innerText));
		return { From: from, To: to, Pixel: (to - from) / a.querySelector("canvas").getBoundingClientRect().width };
	})`)
}

// Two runs are drawn on one scale of time, however they are zoomed, with the queue of the lock by
// its holder, and the same procedure in the same colour. They move together, or one of them alone.
func TestBoth(t *testing.T) {
	p := open(t, serve(t, locked(t, 100_000), locked(t, 50_000)).address, 1280)
	p.settle()
	p.tab("compared")
	p.until(`document.querySelectorAll(".axis figure canvas").length === 4`)
	same := func(what string) [2]axis {
		t.Helper()
		p.settle()
		x := p.axes()
		if math.Abs(x[0].Pixel/x[1].Pixel-1) > 0.02 || x[0].To <= x[0].From {
			t.Errorf("%s: found %+v, expected one scale", what, x)
		}
		return x
	}
	whole := same("whole runs")
	if whole[1].To > 0.8*whole[0].To || whole[0].From != 0 || whole[1].From != 0 {
		t.Errorf("found %+v, expected a shorter run after", whole)
	}
	if got := eval[string](p, `document.querySelector("#panel select").value`); got != "main.mu" {
		t.Errorf("found %s chosen, expected main.mu", got)
	}
	const queues = `[...document.querySelectorAll(".axis figure:nth-of-type(2) figcaption")].filter((x) => /wait for main.mu, by the procedure of its holder/.test(x.innerText)).length`
	if n := eval[int](p, queues); n != 2 {
		t.Errorf("found %d queues of the lock, expected 2", n)
	}
	if colors := eval[[]string](p, `[...new Set([...document.querySelectorAll(".axis .legend > span")].filter((s) => /main\.f\b/.test(s.innerText))
		.map((s) => s.querySelector(".key").style.background))]`); len(colors) != 1 {
		t.Errorf("main.f has the colours %v", colors)
	}
	change := func(what string, act func()) [2]axis {
		t.Helper()
		was := fmt.Sprint(p.axes())
		act()
		for range 100 {
			if fmt.Sprint(p.axes()) != was {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // for the other one
		return same(what)
	}
	press := func(selector, key string) func() {
		return func() {
			p.tabTo("[role=tab]")
			p.tabTo(selector)
			p.key(key)
		}
	}
	near := change("zoomed", press(`[aria-label="Zoom in"]`, kb.Enter))
	if near[0].From != near[1].From || math.Abs((near[0].To-near[0].From)*2/whole[0].To-1) > 0.02 {
		t.Errorf("found %+v, expected half of %+v", near, whole)
	}
	left := change("moved", press(".axis", "a"))
	if left[0].From >= near[0].From || left[0].From != left[1].From {
		t.Errorf("found %+v, expected both before %+v", left, near)
	}
	press("input[type=checkbox]", " ")()
	p.until(`document.querySelector('[aria-label="Later: after"]')`)
	alone := change("one moved", press(`[aria-label="Later: after"]`, kb.Enter))
	if alone[0].From != left[0].From || alone[1].From <= left[1].From {
		t.Errorf("found %+v, expected only the second one after %+v", alone, left)
	}
	dragged := change("dragged", func() {
		eval[chromedp.Void](p, `(() => { const a = document.querySelector(".axis"), at = a.getBoundingClientRect();
			a.setPointerCapture = () => {};
			for (const [type, x] of [["pointerdown", 400], ["pointermove", 300], ["pointermove", 200], ["pointerup", 200]])
				a.dispatchEvent(new PointerEvent(type, { clientX: at.left + x, clientY: at.top + 30, buttons: 1, bubbles: true, pointerId: 1 })); })()`)
	})
	by := (dragged[0].From - alone[0].From) / alone[0].Pixel
	if math.Abs(by/200-1) > 0.1 || dragged[1].From != alone[1].From {
		t.Errorf("found %+v after %+v, expected 200 pixels more", dragged, alone)
	}
}

// A name has one colour, whichever view is drawn first, on the pages of both traces.
func TestColors(t *testing.T) {
	s := serve(t, fileOf(t, "quicksort"), fileOf(t, "locks"))
	colors, shown := map[string]string{}, 0
	look := func(p *page, what string) {
		t.Helper()
		p.until(`document.querySelector("#panel .legend")`)
		for name, color := range eval[map[string]string](p, `Object.fromEntries([...document.querySelectorAll(".legend > span")].map((s) =>
			[s.childNodes[1].textContent.trim(), s.querySelector(".key").style.background]))`) {
			if was, ok := colors[name]; ok && was != color {
				t.Errorf("%s: %s has the colour %s, and had %s", what, name, color, was)
			}
			colors[name] = color
			shown++
		}
	}
	for _, order := range [][]string{{"change", "compared", "parallel"}, {"parallel", "change"}, {"compared", "parallel"}} {
		p := open(t, s.address, 1280)
		p.settle()
		for _, id := range order {
			p.tab(id)
			look(p, fmt.Sprintf("%s of %v", id, order))
		}
		eval[chromedp.Void](p, `document.querySelector("header a").click()`)
		p.until(`document.querySelector("header strong")?.innerText === "before"`)
		p.settle()
		p.tab("parallel")
		look(p, fmt.Sprintf("before, after %v", order))
	}
	if len(colors) < 8 || shown < 3*len(colors) {
		t.Errorf("found %d names in %d places", len(colors), shown)
	}
	busy := map[string]bool{}
	for _, name := range []string{"runtime.main", "main.main", "main.channels", "main.worker", "workloads/cpu.burn"} {
		busy[colors[name]] = true
	}
	if len(busy) != 5 || busy[""] {
		t.Errorf("found the colours %v of five procedures", busy)
	}
}
