// Command server answers requests, and tunes its own recording while it runs. The points
// with most events get limits, so that together they stay below a number of events a
// second. They lose the limits when there is less to do.
//
//	go build -toolexec qinst -o server . && ./server -for 10s
//	curl localhost:8080/debug/qinst                              # points and their levels
//	curl localhost:8080/debug/qinst -d 'main.(*index).find=count'
//	curl -o trace.sddf 'localhost:8080/debug/qinst/trace?seconds=5'
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"qinst.dev/extensions/debug"
	"qinst.dev/extensions/qinst"
)

// index finds words by their beginnings.
type index struct {
	mu    sync.RWMutex
	words map[string][]string
}

func (x *index) add(word string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := 1; i <= len(word); i++ {
		x.words[word[:i]] = append(x.words[word[:i]], word)
	}
}

func (x *index) find(prefix string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.words[prefix]
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := 0
	for _, p := range strings.Fields(r.FormValue("q")) {
		n += len(x.find(p))
	}
	fmt.Fprintln(w, n)
}

// tune gives the busiest points of the program limits that add up to at most perSecond.
func tune(perSecond float64, every time.Duration, stop <-chan struct{}) {
	last := map[string]uint64{}
	for tick := time.NewTicker(every); ; {
		select {
		case <-stop:
			tick.Stop()
			return
		case <-tick.C:
		}
		points, err := debug.State()
		if err != nil {
			log.Print(err)
			return
		}
		for _, p := range points {
			rate := float64(p.Hits-last[p.Name]) / every.Seconds()
			last[p.Name] = p.Hits
			limit := "trace"
			if share := perSecond / 10; rate > share {
				limit = fmt.Sprintf("%.0f/s:time", share)
			}
			if err := qinst.SetRate(p.Name, limit); err != nil {
				log.Print(err)
			}
		}
	}
}

// load requests the URL again and again, one request after the other.
func load(url string, until time.Time) (n int) {
	for time.Now().Before(until) {
		resp, err := http.Get(url + "/?q=a+ab+abc+q+in")
		if err != nil {
			return n
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		n++
	}
	return n
}

func main() {
	addr := flag.String("http", "localhost:8080", "address")
	runs := flag.Duration("for", 0, "ask itself for so long, then end; 0: serve")
	events := flag.Float64("events", 5000, "events a second that may be traced")
	flag.Parse()
	x := &index{words: map[string][]string{}}
	for i := range 1000 {
		x.add(fmt.Sprintf("%c%cc%d", 'a'+i%26, 'a'+i/26%26, i))
	}
	http.Handle("/", x)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan struct{})
	go tune(*events, 200*time.Millisecond, stop)
	if *runs == 0 {
		log.Fatal(http.Serve(l, nil))
	}
	go func() { _ = http.Serve(l, nil) }()
	var wg sync.WaitGroup
	var mu sync.Mutex
	all := 0
	for range 4 {
		wg.Go(func() {
			n := load("http://"+l.Addr().String(), time.Now().Add(*runs))
			mu.Lock()
			all += n
			mu.Unlock()
		})
	}
	wg.Wait()
	close(stop)
	fmt.Println(all, "requests")
}
