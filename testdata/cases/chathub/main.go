// Command chathub runs a chat hub with many rooms, some of which are archived
// while people talk in them.
package main

import (
	"flag"
	"fmt"
	"hash/crc64"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

var table = crc64.MakeTable(crc64.ECMA)

type message struct {
	author int
	text   string
	sum    uint64
}

type room struct {
	name     string
	mu       sync.Mutex
	backlog  []message
	archived int
}

func (r *room) post(m message) {
	r.mu.Lock()
	r.backlog = append(r.backlog, m)
	r.mu.Unlock()
}

// archive moves the backlog to the history volume.
func (r *room) archive(v *volume) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v.store(r.name, r.backlog)
	r.archived += len(r.backlog)
	r.backlog = r.backlog[:0]
}

func (r *room) total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.archived + len(r.backlog)
}

type volume struct {
	blocks atomic.Int64
}

func (v *volume) store(name string, ms []message) {
	time.Sleep(6 * time.Millisecond)
	v.blocks.Add(1)
}

type hub struct {
	mu    sync.Mutex
	rooms map[string]*room
	posts map[string]int
}

func newHub(names []string) *hub {
	h := &hub{rooms: map[string]*room{}, posts: map[string]int{}}
	for _, n := range names {
		h.rooms[n] = &room{name: n}
	}
	return h
}

func (h *hub) Post(name string, m message) {
	h.mu.Lock()
	r := h.rooms[name]
	h.posts[name]++
	if *revised {
		h.mu.Unlock()
		r.post(m)
		return
	}
	r.post(m)
	h.mu.Unlock()
}

// filter rewrites markup and rates the text of a message.
type filter struct {
	replacer *strings.Replacer
}

func (f *filter) clean(author int, text string) message {
	text = f.replacer.Replace(text)
	sum := crc64.Checksum([]byte(text), table)
	for i := 0; i < 12; i++ {
		sum ^= crc64.Checksum([]byte(strings.ToUpper(text)), table) + uint64(i)
	}
	return message{author: author, text: text, sum: sum}
}

func main() {
	flag.Parse()
	start := time.Now()
	names := []string{"lobby"}
	for i := 1; i < 40; i++ {
		names = append(names, fmt.Sprintf("room-%d", i))
	}
	h := newHub(names)
	v := &volume{}
	stop := make(chan struct{})
	var archiver sync.WaitGroup
	archiver.Add(1)
	go func() {
		defer archiver.Done()
		t := time.NewTicker(8 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				h.rooms["lobby"].archive(v)
			case <-stop:
				return
			}
		}
	}()
	f := &filter{replacer: strings.NewReplacer("<b>", "**", "</b>", "**", "&amp;", "&")}
	text := strings.Repeat("the <b>quick</b> brown fox &amp; friends ", 32)
	var wg sync.WaitGroup
	for w := 0; w < 12; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < 1100; i++ {
				m := f.clean(w, text)
				h.Post(names[(i*7+w*3)%len(names)], m)
			}
		}()
	}
	wg.Wait()
	close(stop)
	archiver.Wait()
	total := 0
	for _, n := range names {
		total += h.rooms[n].total()
	}
	fmt.Println("messages", total, "lobby", h.posts["lobby"])
	fmt.Println("truth run", time.Since(start))
}
