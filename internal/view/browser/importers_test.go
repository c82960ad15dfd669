package browser

import (
	"bytes"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// profilerCLI is the Firefox Profiler without its page: the same code reads the profile and
// computes its trees.
const profilerCLI = "@firefox-devtools/profiler-cli"

// The Firefox Profiler takes its form, and has the same normalized processor time for each
// procedure's own work as the form collapsed.
func TestFirefox(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("found no node in the PATH") // the profiler's command is a program of Node.js
	}
	script := filepath.Join(tool(t, profilerCLI), "dist", "profiler-cli.js")
	for _, name := range []string{"locks", "quicksort", "convoy"} {
		file, profile := fileOf(t, name), filepath.Join(t.TempDir(), "profile.json")
		qinst(t, "export", "-to", "firefox", "-o", profile, file)
		want := map[string]float64{}
		for line := range strings.Lines(string(qinst(t, "export", "-to", "collapsed", file))) {
			at := strings.LastIndexByte(line, ' ')
			ns, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
			if err != nil {
				t.Fatal(err)
			}
			want[line[strings.LastIndexByte(line[:at], ';')+1:at]] += ns / 1e6
		}
		found := profiled(t, script, profile)
		for f, ms := range want {
			if math.Abs(found[f]-ms) > 1e-6 {
				t.Errorf("%s: found %v ms of %s, expected %v", name, found[f], f, ms)
			}
		}
	}
}

// profiled is the normalized processor time of each procedure's own work, in ms, as the Firefox
// Profiler has it. Its command line asks a server, and starts one, but gives up after half a
// second. So the server is started as the command does that. It can be asked when it has written a
// file; a command that comes earlier takes it for one that has died, and removes its socket.
func profiled(t *testing.T, script, profile string) map[string]float64 {
	t.Helper()
	sessions, err := os.MkdirTemp("", "cli") // short: the path of a socket begins with it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(sessions)
	node := func(args ...string) *exec.Cmd {
		cmd := exec.Command("node", slices.Concat([]string{script}, args, []string{"--session", "test"})...)
		cmd.Env = append(os.Environ(), "PROFILER_CLI_SESSION_DIR="+sessions)
		return cmd
	}
	server := node("--daemon", profile)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	var list []byte
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if _, err = os.Stat(filepath.Join(sessions, "test.json")); err == nil {
			list, err = node("thread", "list", "--json").Output()
		}
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("profiler-cli: %v", err)
		}
	}
	own := map[string]float64{}
	for _, th := range decode[struct {
		Threads []struct{ ThreadHandle, ProcessName string }
	}](t, list).Threads {
		if th.ProcessName != "npt" {
			continue
		}
		text, err := node("thread", "functions", "--include-idle", "--thread", th.ThreadHandle, "--json").Output()
		if err != nil {
			t.Fatalf("profiler-cli: %v", err)
		}
		for _, f := range decode[struct {
			Functions []struct {
				Name        string
				SelfSamples float64
			}
		}](t, text).Functions {
			own[f.Name] += f.SelfSamples
		}
	}
	return own
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
