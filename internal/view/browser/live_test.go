package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// A file that grows is shown again and again; it can be paused, and has an end.
func TestLive(t *testing.T) {
	data, err := os.ReadFile(fileOf(t, "levels"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.sddf")
	grow := func(share float64) {
		if err := os.WriteFile(file, data[:int(share*float64(len(data)))], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	grow(0.5)
	p := open(t, serve(t, "-live", file).address, 1280)
	const since = `document.querySelector(".live .dim")?.textContent`
	p.until(since + `?.includes("577ms")`)
	p.tab("timeline")
	grow(0.8)
	p.until(since + `?.includes("1.15s")`)
	p.until(`document.getElementById("timeline").ariaLabel.includes("tracks")`)
	for _, id := range tabs {
		p.tab(id)
	}
	click := func(name string) {
		eval[chromedp.Void](p, `[...document.querySelectorAll(".live button")].find((b) => b.textContent === "`+name+`").click()`)
	}
	click("Pause")
	p.says("paused here")
	p.until(`document.querySelector("h1") && !document.querySelector("progress")`)
	click("Go on")
	p.until(since)
	grow(1)
	p.says("has ended")
	p.until(`document.querySelector("h1") && !document.querySelector("progress")`)
	p.tab("change")
}
