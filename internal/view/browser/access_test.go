package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axe-core finds nothing that keeps people from reading a view, in light and dark colours, in wide
// and narrow windows.
func TestAccess(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(tool(t, "axe-core"), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, serve(t, fileOf(t, "locks"), fileOf(t, "convoy")).address, 1280)
	p.readable(string(axe), both)
}

// readable checks views by axe-core.
func (p *page) readable(axe string, views []string) {
	p.Helper()
	eval[chromedp.Void](p, axe+"; undefined")
	for _, dark := range []bool{false, true} {
		p.dark(dark)
		for _, wide := range []int64{1280, 400} {
			p.size(wide)
			for _, id := range views {
				p.tab(id)
				for _, v := range eval[[]string](p, `axe.run().then((r) => r.violations.map((v) =>
					v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 150) + " " + n.failureSummary).join(" | ")))`) {
					p.Errorf("%s, dark: %v, %d pixels: %s", id, dark, wide, v)
				}
			}
		}
	}
}

// The modules of the page have no error that types show.
func TestTypes(t *testing.T) {
	page, err := filepath.Abs("../page")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "tsconfig.json")
	text := fmt.Sprintf(`{"compilerOptions": {"allowJs": true, "checkJs": true, "noEmit": true, "target": "es2022",
		"module": "es2022", "moduleResolution": "bundler", "lib": ["es2023", "dom", "dom.iterable"]},
		"files": ["%s/app.mjs"]}`, page)
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("found no node")
	}
	tsc := filepath.Join(tool(t, "typescript"), "lib", "tsc.js")
	out, _ := exec.Command("node", tsc, "-p", config, "--pretty", "false").Output()
	for _, line := range ours(string(out)) {
		t.Error(line)
	}
}

// key presses a key.
func (p *page) key(name string) {
	p.Helper()
	p.do(chromedp.KeyEvent(name))
}

// tabTo presses the tab key until an element has the focus.
func (p *page) tabTo(selector string) {
	p.Helper()
	for range 200 {
		if eval[bool](p, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		p.key(kb.Tab)
	}
	p.Fatalf("the tab key does not lead to %s", selector)
}

// Ten tasks need nothing but a keyboard.
func TestKeyboard(t *testing.T) {
	p := open(t, serve(t, fileOf(t, "convoy")).address, 1280)
	p.settle()

	// 1. Every view is chosen with arrows.
	p.tabTo("[role=tab]")
	for _, id := range append(tabs[1:], "change") {
		p.key(kb.ArrowRight)
		p.until(fmt.Sprintf("document.querySelector('[aria-selected=true]').id === 'tab-%s'", id))
	}
	// 2. The first conclusion leads to the time axis.
	p.tabTo(".item button")
	p.key(kb.Enter)
	p.until("document.querySelector('#timeline')")
	// 3. It zooms, and 4. it moves.
	p.tabTo("#timeline")
	label := func() string {
		return eval[string](p, "document.getElementById('timeline').getAttribute('aria-label')")
	}
	p.until("document.getElementById('timeline').getAttribute('aria-label').includes(' to ')")
	for _, k := range []string{"w", "d"} {
		before := label()
		p.key(k)
		p.until(fmt.Sprintf("document.getElementById('timeline').getAttribute('aria-label') !== %q", before))
	}
	// 5. A track is found.
	p.key(kb.Home)
	p.tabTo("[role=tab]")
	p.tabTo("label input")
	p.key("bgsweep")
	p.until("document.getElementById('timeline').getAttribute('aria-label').includes('with 1 tracks: ')")
	// 6. The table is in the order of calls, and 7. has what is looked for.
	choose(p, "table")
	p.tabTo("th:nth-child(5) button")
	p.key(kb.Enter)
	p.until("document.querySelector('th[aria-sort=descending]').textContent.trim() === 'calls'")
	p.tabTo("[role=tab]")
	p.tabTo("label input")
	p.key("turn")
	p.until("[...document.querySelectorAll('tbody tr')].every((x) => x.textContent.includes('turn'))")
	// 8. A procedure leads to its source.
	p.tabTo("td .link")
	for !eval[bool](p, "document.activeElement.closest('tr').children[1].textContent === 'proc'") {
		p.key(kb.Tab)
	}
	p.key(kb.Enter)
	p.until("document.querySelector('[aria-selected=true]').id === 'tab-source'")
	// 9. A change is made larger, and computed.
	choose(p, "whatif")
	p.tabTo("input[type=range]")
	p.key(kb.ArrowRight)
	p.until("document.querySelector('output').textContent.includes('-95')")
	for !eval[bool](p, "document.activeElement.textContent === 'Compute'") {
		p.key(kb.Tab)
	}
	p.key(kb.Enter)
	p.until("document.querySelector('#panel code')?.textContent.includes('-95%')")
	// 10. The slowest request leads to the time axis.
	choose(p, "requests")
	p.tabTo("p .link")
	p.key(kb.Enter)
	p.until("document.querySelector('[aria-selected=true]').id === 'tab-timeline'")
}

// choose chooses a view with arrows.
func choose(p *page, id string) {
	p.Helper()
	for range 60 {
		if eval[bool](p, "document.activeElement.matches('[role=tab]')") {
			break
		}
		p.key(kb.Tab)
	}
	for range tabs {
		if eval[bool](p, fmt.Sprintf("document.querySelector('[aria-selected=true]').id === 'tab-%s'", id)) {
			p.settle()
			return
		}
		p.key(kb.ArrowRight)
	}
	p.Fatalf("arrows do not lead to %s", id)
}
