package browser

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Each view opens, without a message in the console, with nothing asked of other hosts, and with
// nothing cut off in a narrow window.
func TestViews(t *testing.T) {
	for _, name := range shown {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fileOf(t, name))
			p := open(t, s.address, 1280)
			views(p, tabsOf(name))
			u, err := url.Parse(s.address)
			if err != nil {
				t.Fatal(err)
			}
			p.quiet("http://" + u.Host + "/")
		})
	}
}

// The file has the same views, but for the one that takes a server, and asks for nothing.
func TestFile(t *testing.T) {
	for _, name := range shown {
		t.Run(name, func(t *testing.T) {
			file := "file://" + htmlOf(t, name)
			p := blank(t)
			p.offline()
			p.size(1280)
			p.visit(file)
			views(p, slices.DeleteFunc(tabsOf(name), func(id string) bool { return id == "whatif" }))
			p.quiet(file)
		})
	}
}

// tabsOf are the views of a trace: one that has records has a view of them.
func tabsOf(name string) []string {
	list := slices.Clone(tabs)
	if name == "records" {
		list = slices.Insert(list, slices.Index(list, "whatif"), "records")
	}
	return list
}

// htmlOf makes the page as a file.
func htmlOf(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	qinst(t, "view", "-html", file, fileOf(t, name))
	return file
}

// views opens all views of a page, in a wide window and in a narrow one.
func views(p *page, list []string) {
	p.Helper()
	found := eval[[]string](p, `[...document.querySelectorAll("[role=tab]")].map((x) => x.id.slice(4))`)
	if !slices.Equal(found, list) {
		p.Fatalf("found the views %v, expected %v", found, list)
	}
	for _, wide := range []int64{1280, 400} {
		p.size(wide)
		for _, id := range list {
			start := time.Now()
			p.tab(id)
			p.Logf("%s %d: %v", id, wide, time.Since(start))
			if is := eval[string](p, `document.querySelector("[aria-selected=true]").id`); is != "tab-"+id {
				p.Errorf("found %s chosen, expected tab-%s", is, id)
			}
			if text := eval[string](p, `document.getElementById("panel").innerText`); len(strings.TrimSpace(text)) < 20 {
				p.Errorf("%s says only %q", id, text)
			}
			if over := eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				p.Errorf("%s at %d pixels: %d pixels are cut off: %s", id, wide, over, eval[string](p, widest))
			}
		}
	}
}

// Two traces are compared, and the page leads to that before and back.
func TestBefore(t *testing.T) {
	p := open(t, serve(t, fileOf(t, "quicksort"), fileOf(t, "locks")).address, 1280)
	p.settle()
	views(p, both)
	p.size(1280)
	p.tab("compared")
	p.until(`document.querySelectorAll("#panel figure canvas").length === 3`) // busy processors, and a part of one program
	if n := eval[int](p, `document.querySelectorAll("#panel tbody tr").length`); n < 10 {
		p.Errorf("found %d entries that changed", n)
	}
	was := eval[string](p, `document.querySelector("h1").innerText`)
	eval[chromedp.Void](p, `document.querySelector("header a").click()`)
	p.until(`document.querySelector("header strong")?.innerText === "before"`)
	p.settle()
	views(p, tabs)
	if is := eval[string](p, `document.querySelector("h1").innerText`); is == was {
		p.Errorf("the page before is of %s, too", is)
	}
	eval[chromedp.Void](p, `document.querySelector("header a").click()`)
	p.until(`document.querySelector("h1")?.innerText === ` + strconv.Quote(was))
}

// widest is the element that ends farthest to the right, of those that do not scroll.
const widest = `(() => {
	const all = [...document.querySelectorAll("#app *")].filter((x) => !x.closest(".over") || x.matches(".over"));
	const x = all.sort((a, b) => b.getBoundingClientRect().right - a.getBoundingClientRect().right)[0];
	return x.outerHTML.slice(0, 200);
})()`

// In the first screen stand the first conclusion, its picture and its gain.
func TestFirstScreen(t *testing.T) {
	for _, name := range []string{"locks", "quicksort", "convoy"} {
		t.Run(name, func(t *testing.T) {
			p := open(t, serve(t, fileOf(t, name)).address, 1280)
			p.settle()
			for _, part := range []string{"", " figure canvas", " .gain"} {
				what := "ol.items > li:first-child .item" + part
				bottom := eval[float64](p, fmt.Sprintf(`document.querySelector(%q)?.getBoundingClientRect().bottom ?? 1e6`, what))
				if part == " figure canvas" && !eval[bool](p, fmt.Sprintf(drawn, what)) {
					t.Errorf("%s is empty", what)
				}
				if bottom > 800 {
					t.Errorf("%s ends at %.0f, expected at most 800", what, bottom)
				}
			}
		})
	}
}

// drawn tells whether a canvas has a pixel.
const drawn = `(() => {
	const c = document.querySelector(%q);
	return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((x) => x);
})()`
