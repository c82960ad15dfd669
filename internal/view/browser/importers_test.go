package browser

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// exports are traces that other tools read.
var exports = []string{"locks", "quicksort", "convoy", "odd"}

// catapult is a page with the trace viewer of "go tool trace", which is that of chrome://tracing.
const catapult = `<!doctype html><title>viewer</title><body></body><script src="/static/webcomponents.min.js"></script>
<link rel="import" href="/static/trace_viewer_full.html">`

// imported reads the trace at /trace, and returns the viewer's warnings and how many slices it has.
const imported = `fetch("/trace").then((x) => x.text()).then((text) => {
	const model = new tr.Model();
	new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([text]);
	return {Warnings: model.importWarnings.map((x) => x.type + ": " + x.message),
		Slices: model.getAllThreads().reduce((sum, x) => sum + x.sliceGroup.length, 0),
		Flows: model.flowEvents.length};
})`

// Catapult's importer takes the form chrome without a warning.
func TestCatapult(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	static := filepath.Join(strings.TrimSpace(string(goroot)), "src/internal/trace/traceviewer/static")
	if _, err := os.Stat(static); err != nil {
		t.Skipf("found no trace viewer in GOROOT: %v", err)
	}
	for _, name := range exports {
		t.Run(name, func(t *testing.T) {
			p := blank(t)
			file := fileOf(t, name)
			p.do(chromedp.Navigate(offer(t, "chrome", file, static, catapult)))
			p.until(`window.tr && tr.Model && tr.importer && tr.importer.ImportOptions && tr.e && tr.e.importer && document.readyState === "complete"`)
			found := eval[struct {
				Warnings      []string
				Slices, Flows int
			}](p, imported)
			if len(found.Warnings) > 0 {
				t.Errorf("found warnings %.1000q", found.Warnings)
			}
			text := qinst(t, "export", "-to", "chrome", file)
			begun := bytes.Count(text, []byte(`"ph":"B"`)) + bytes.Count(text, []byte(`"ph":"X"`))
			if found.Slices != begun || begun == 0 {
				t.Errorf("found %d slices, expected the %d of the file", found.Slices, begun)
			}
			if flows := bytes.Count(text, []byte(`"ph":"f"`)); found.Flows != flows {
				t.Errorf("found %d flows, expected the %d of the file", found.Flows, flows)
			}
		})
	}
}

// Speedscope takes its form.
func TestSpeedscope(t *testing.T) {
	dist := filepath.Join(tool(t, "speedscope"), "dist", "release")
	index, err := os.ReadFile(filepath.Join(dist, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Replace(string(index), "<head>", `<head><base href="/static/">`, 1)
	for _, name := range exports {
		t.Run(name, func(t *testing.T) {
			p := blank(t)
			file := fileOf(t, name)
			profile := decode[struct{ Name string }](t, qinst(t, "export", "-to", "speedscope", file))
			address := offer(t, "speedscope", file, dist, page)
			p.do(chromedp.Navigate(address + "#profileURL=" + address + "trace"))
			p.until(`document.title.endsWith(" - speedscope") && !document.title.startsWith("Importing")`)
			if title := eval[string](p, "document.title"); title != profile.Name+" - speedscope" {
				t.Errorf("found the title %q, expected the name %q", title, profile.Name)
			}
		})
	}
}

// Protoc takes the form perfetto apart.
func TestProtoc(t *testing.T) {
	if _, err := exec.LookPath("protoc"); err != nil {
		t.Skip("found no protoc in the PATH")
	}
	for _, name := range exports {
		protoc := exec.Command("protoc", "--decode_raw")
		protoc.Stdin = bytes.NewReader(qinst(t, "export", "-to", "perfetto", fileOf(t, name)))
		out, err := protoc.Output()
		if packets := bytes.Count(out, []byte("\n1 {")); err != nil || packets < 10 {
			t.Errorf("%s: protoc found %d packets (%v), expected at least 10", name, packets, err)
		}
	}
}

// offer serves a page, the files of a tool below /static/, and at /trace a trace in a form.
func offer(t *testing.T, form, file, static, page string) string {
	t.Helper()
	trace := qinst(t, "export", "-to", form, file)
	mux := http.NewServeMux()
	mux.Handle("/static/", http.StripPrefix("/static/", http.FileServer(http.Dir(static))))
	send := func(path, kind string, text []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(text)
		})
	}
	send("/{$}", "text/html; charset=utf-8", []byte(page))
	send("/trace", "application/json", trace)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/"
}
