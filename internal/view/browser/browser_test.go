// Package browser tests the page of internal/view in Chromium, with a keyboard and with other
// people's tools. It is a module of its own, because a program needs none of that:
//
//	GOWORK=off go test ./...
//
// Tests are skipped if Chromium, or a tool that they take from npm, cannot be found.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"qinst.dev/internal/export/lanes/lanestest"
)

const root = "../../.."

// shown are the traces that the page is opened with.
var shown = []string{"locks", "quicksort", "convoy", "odd", "records"}

// tabs are the views, by the names in their addresses.
var tabs = []string{"change", "timeline", "parallel", "flame", "table", "source", "objects", "requests", "whatif", "about"}

// both are those of two traces.
var both = slices.Insert(slices.Clone(tabs), 1, "compared")

var (
	scratch string          // a folder for all tests, with the tool in it
	chrome  context.Context // a browser for all tests; nil: there is none
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "qinst-browser")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		scratch = dir
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "qinst"), "./cmd/qinst")
		build.Dir, build.Env = root, append(os.Environ(), "GOWORK=")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		defer startChromium()()
		return m.Run()
	}())
}

// startChromium starts the browser, if there is one, and returns how to end it.
func startChromium() func() {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("enable-precise-memory-info", true))...)
		chrome, _ = chromedp.NewContext(ctx)
		if err := chromedp.Do(chrome); err != nil {
			fmt.Fprintf(os.Stderr, "%s does not start: %v\n", path, err)
			chrome = nil
		}
		return cancel
	}
	return func() {}
}

// qinst runs the tool, and returns what it prints.
func qinst(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(scratch, "qinst"), args...)
	var diagnostics bytes.Buffer
	cmd.Stderr = &diagnostics
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("qinst %v: %v\n%s", args, err, diagnostics.Bytes())
	}
	return out
}

// decode reads JSON.
func decode[T any](t *testing.T, data []byte) (x T) {
	t.Helper()
	if err := json.Unmarshal(data, &x); err != nil {
		t.Fatal(err)
	}
	return x
}

// fileOf is the file of a trace: one of testdata/kept, or "odd", with names that are no text.
func fileOf(t *testing.T, name string) string {
	t.Helper()
	if name != "odd" {
		return filepath.Join(root, "testdata", "kept", name+".sddf")
	}
	file := filepath.Join(t.TempDir(), "odd.sddf")
	if err := lanestest.Names().WriteFile(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// server is a qinst view that runs.
type server struct {
	address string
	pid     int
}

// serve starts qinst view of a trace, or of two, which ends with the test.
func serve(t *testing.T, files ...string) server {
	t.Helper()
	cmd := exec.Command(filepath.Join(scratch, "qinst"), append([]string{"view", "-n"}, files...)...)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	address := regexp.MustCompile(`http://\S+`).FindString(line)
	if address == "" {
		t.Fatalf("qinst view says %q (%v), expected an address", line, err)
	}
	go io.Copy(io.Discard, r)
	return server{address, cmd.Process.Pid}
}

// page is a tab of the browser.
type page struct {
	*testing.T
	ctx context.Context

	patience time.Duration // for what is waited for

	mu       sync.Mutex
	wrong    []string // messages of the console
	requests []string
	bytes    float64 // received
}

// open opens an address in a window of that many pixels, and waits until the page is there.
func open(t *testing.T, address string, wide int64) *page {
	p := blank(t)
	p.size(wide)
	p.visit(address)
	return p
}

// blank opens an empty tab, which is closed with the test.
func blank(t *testing.T) *page {
	t.Helper()
	if chrome == nil {
		t.Skip("found no Chromium that starts, expected chromium, chromium-browser, google-chrome or chrome in the PATH")
	}
	ctx, cancel := chromedp.NewContext(chrome)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	p := &page{T: t, ctx: ctx, patience: 15 * time.Second}
	if err := chromedp.Listen(ctx, p.note); err != nil {
		t.Fatal(err)
	}
	return p
}

// note keeps what the browser says.
func (p *page) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventLoadingFinished:
		p.bytes += e.EncodedDataLength
	case *runtime.EventExceptionThrown:
		p.wrong = append(p.wrong, fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception.Description))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.wrong = append(p.wrong, fmt.Sprint(e.Type, " ", e.Args))
		}
	case *log.EventEntryAdded:
		p.wrong = append(p.wrong, e.Entry.Text+" "+e.Entry.URL)
	}
}

// quiet fails if the console has a message, or if something was asked of another origin.
func (p *page) quiet(origin string) {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.wrong {
		p.Errorf("the console has %s", text)
	}
	for _, url := range p.requests {
		if !strings.HasPrefix(url, origin) && !strings.HasPrefix(url, "data:") {
			p.Errorf("the page asks for %.200s, expected nothing outside of %s", url, origin)
		}
	}
	if len(p.requests) == 0 {
		p.Error("found no request, expected that of the page")
	}
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

func (p *page) size(wide int64) { p.do(chromedp.EmulateViewport(wide, 800)) }

// dark chooses one of the two sets of colours.
func (p *page) dark(is bool) {
	p.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[is]
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
}

// eval computes an expression in the page. A promise is waited for.
func eval[T any](p *page, js string) T {
	p.Helper()
	x, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%.200s: %v", js, err)
	}
	return x
}

// until waits until an expression holds in the page.
func (p *page) until(js string) {
	p.Helper()
	for begun := time.Now(); time.Since(begun) < p.patience; {
		if eval[bool](p, "!!("+js+")") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.Fatalf("%s does not hold within %v; the page says\n%.1500s", js, p.patience, eval[string](p, "document.body.innerText"))
}

// says waits until the page has a text.
func (p *page) says(text string) {
	p.Helper()
	p.until(fmt.Sprintf("document.body?.innerText.includes(%q)", text))
}

// tab chooses a view, and waits until it has its answers and its picture.
func (p *page) tab(name string) {
	p.Helper()
	eval[chromedp.Void](p, fmt.Sprintf("document.getElementById('tab-%s').click()", name))
	p.settle()
}

// settle waits until no answer is outstanding and all is drawn.
func (p *page) settle() {
	p.Helper()
	p.until(`![...document.querySelectorAll("#panel > p.dim, #panel figure p.dim, .item p.dim, #panel p")]
		.some((x) => /^(Reading|Drawing|Computing|Computing gains|Comparing)$/.test(x.textContent))`)
	eval[chromedp.Void](p, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
}

// visit opens an address, and waits until the page is there.
func (p *page) visit(address string) {
	p.Helper()
	p.do(chromedp.Navigate(address))
	p.until("document.getElementById('app').getAttribute('aria-busy') === 'false' && !document.querySelector('progress')")
}

// offline takes the network away.
func (p *page) offline() {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true})
		return err
	}))
}
