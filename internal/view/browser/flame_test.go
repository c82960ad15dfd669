package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// In the flame graph arrows lead along the paths, and the page says where.
func TestFlameKeys(t *testing.T) {
	p := open(t, serve(t, fileOf(t, "quicksort")).address+"#flame", 1280)
	p.tabTo("#flame")
	p.until("document.getElementById('flame').height > 100")
	var said []string
	for _, key := range []string{kb.ArrowDown, kb.ArrowRight, kb.ArrowLeft, kb.Enter, kb.ArrowUp, kb.Home} {
		before := eval[string](p, told)
		p.key(key)
		p.until(fmt.Sprintf("%s !== %q", told, before))
		said = append(said, eval[string](p, told))
	}
	if said[0] != said[2] || said[0] != said[4] || said[1] == said[0] || said[3] == said[0] ||
		!strings.Contains(said[5], "100") {
		t.Errorf("the flame graph says %q, expected a path, another one, back, deeper, back, and the whole run", said)
	}
}

const told = "document.querySelector('.told').innerText"

// A view that another one leads to has the focus, and a search without a result says so.
func TestLeads(t *testing.T) {
	p := open(t, serve(t, fileOf(t, "convoy")).address, 1280)
	p.tabTo(".item button")
	p.key(kb.Enter)
	p.until("document.querySelector('#timeline') && document.activeElement.id === 'panel'")
	p.tabTo("label input")
	p.key("no such name")
	p.until("document.getElementById('timeline').ariaLabel === 'No track has this name.'")
}
