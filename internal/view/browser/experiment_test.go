package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tried is the file of an experiment with the program of the trace "convoy".
const tried = "../testdata/convoy.spt.json"

// withTried are the views of a trace and an experiment.
var withTried = slices.Insert(slices.Clone(tabs), len(tabs)-1, "experiment")

// An experiment alone is one view, from a server and as a file, without a question about a trace.
func TestExperimentAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	qinst(t, "view", "-html", file, tried)
	s := serve(t, tried)
	for _, address := range []string{s.address, "file://" + file} {
		p := open(t, address, 1280)
		p.settle()
		views(p, []string{"experiment"})
		p.says("These parts make the run longer")
		if n := eval[int](p, `document.querySelectorAll("#panel .link").length`); n > 0 {
			p.Errorf("%d names lead to a trace that is not there", n)
		}
		p.quiet(strings.Split(address, "?")[0])
	}
}

// With a trace names lead to the parts of the program, by keys alone. Bars and dots are where the
// numbers are.
func TestExperiment(t *testing.T) {
	p := open(t, serve(t, fileOf(t, "convoy"), tried).address, 1280)
	p.settle()
	views(p, withTried)
	p.size(1280)
	p.tab("experiment")
	for i := 1; i <= 2; i++ {
		canvas := fmt.Sprintf(`section:nth-of-type(1) figure:nth-child(%d) canvas`, i)
		if !eval[bool](p, fmt.Sprintf(drawn, canvas)) {
			p.Errorf("%s is empty", canvas)
		}
	}
	// Of each bar the mark is within its interval, and predictions are where they are said to be.
	if wrong := eval[[]string](p, `[...document.querySelectorAll(".effects svg")].filter((s) => {
		const at = (fill) => s.querySelector('rect[fill="' + fill + '"]')?.getBoundingClientRect();
		const mark = at("var(--bar)"), within = at("var(--span)"), predicted = at("var(--path)");
		return !mark || !within || mark.left < within.left - 2 || mark.right > within.right + 2 || within.width < 5 ||
			(/predicted/.test(s.getAttribute("aria-label")) !== !!predicted) || (predicted && predicted.top < mark.bottom);
	}).map((s) => s.outerHTML)`); len(wrong) > 0 {
		p.Errorf("found the bars %v", wrong)
	}
	if n := eval[int](p, `document.querySelectorAll(".effects svg").length`); n != 12 {
		p.Errorf("found %d bars, expected 6 effects, 5 and an interaction", n)
	}
	eval[chromedp.Void](p, `(() => { const c = document.querySelector("section canvas");
		c.dispatchEvent(new PointerEvent("pointermove", { clientX: c.getBoundingClientRect().left + 1, clientY: c.getBoundingClientRect().top + 5, bubbles: true })); })()`)
	p.until(`/^run 1: .*ms; levels [-+]{6}$/.test(document.querySelector(".told").innerText)`)
	for _, leads := range []struct{ link, view string }{{".effects .link", "table"}, {"section td:nth-child(2) .link", "timeline"}} {
		choose(p, "experiment")
		p.tabTo(leads.link)
		p.key(kb.Enter)
		p.until(fmt.Sprintf("document.querySelector('[aria-selected=true]').id === 'tab-%s'", leads.view))
	}
	p.until("document.getElementById('timeline').getAttribute('aria-label').includes('main.main.func1.lock')")
}

// The page of an experiment can be read by all: see TestAccess.
func TestExperimentAccess(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(tool(t, "axe-core"), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, serve(t, fileOf(t, "locks"), tried).address, 1280)
	p.readable(string(axe), []string{"experiment"})
	p.says("This experiment is of convoy, and the trace is of locks")
}
