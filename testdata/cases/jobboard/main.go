// Command jobboard renders notification mails and hands them to a large set
// of delivery agents.
package main

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type mail struct {
	id   int
	body string
}

// board is an unbounded queue of mails.
type board struct {
	mu     sync.Mutex
	filled *sync.Cond
	items  []mail
	closed bool
}

func newBoard() *board {
	b := &board{}
	b.filled = sync.NewCond(&b.mu)
	return b
}

func (b *board) Put(m mail) {
	b.mu.Lock()
	b.items = append(b.items, m)
	b.mu.Unlock()
	if *revised {
		b.filled.Signal()
		return
	}
	b.filled.Broadcast()
}

func (b *board) Take() (mail, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.items) == 0 && !b.closed {
		b.filled.Wait()
	}
	if len(b.items) == 0 {
		return mail{}, false
	}
	m := b.items[0]
	b.items = b.items[1:]
	return m, true
}

func (b *board) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.filled.Broadcast()
}

// agent delivers mails over its own session.
type agent struct {
	delivered int
	bytes     int
}

func (a *agent) run(b *board) {
	for {
		m, ok := b.Take()
		if !ok {
			return
		}
		time.Sleep(800 * time.Microsecond)
		a.delivered++
		a.bytes += len(m.body)
	}
}

type account struct {
	Name  string
	Lines []string
}

var layout = template.Must(template.New("mail").Parse(
	`Dear {{.Name}},
{{range $i, $l := .Lines}}{{if $l}}  {{$i}}. {{$l}}
{{end}}{{end}}Regards
`))

// directory owns the customer records and answers lookups.
type directory struct {
	asks chan lookup
}

type lookup struct {
	id    int
	reply chan account
}

func (d *directory) run() {
	for l := range d.asks {
		l.reply <- account{Name: fmt.Sprintf("customer %05d", l.id)}
	}
}

type renderer struct {
	dir      *directory
	mu       sync.Mutex
	rendered int
}

// account fetches the customer record.
func (r *renderer) account(id int) account {
	l := lookup{id: id, reply: make(chan account)}
	r.dir.asks <- l
	return <-l.reply
}

func (r *renderer) render(id int) mail {
	acc := r.account(id)
	for i := 0; i < 30; i++ {
		acc.Lines = append(acc.Lines, fmt.Sprintf("invoice %d is due in %d days", id*30+i+1000000, i+10))
	}
	var sb strings.Builder
	if err := layout.Execute(&sb, acc); err != nil {
		panic(err)
	}
	r.mu.Lock()
	r.rendered++
	r.mu.Unlock()
	return mail{id: id, body: sb.String()}
}

func main() {
	flag.Parse()
	start := time.Now()
	const agents, mails = 700, 6000
	b := newBoard()
	crew := make([]*agent, agents)
	var delivery sync.WaitGroup
	for i := range crew {
		crew[i] = &agent{}
		delivery.Add(1)
		go func() {
			defer delivery.Done()
			crew[i].run(b)
		}()
	}
	dir := &directory{asks: make(chan lookup)}
	go dir.run()
	defer close(dir.asks)
	r := &renderer{dir: dir}
	var next atomic.Int64
	var rendering sync.WaitGroup
	for w := 0; w < 2; w++ {
		rendering.Add(1)
		go func() {
			defer rendering.Done()
			for id := next.Add(1); id <= mails; id = next.Add(1) {
				b.Put(r.render(int(id)))
			}
		}()
	}
	rendering.Wait()
	b.Close()
	delivery.Wait()
	delivered, bytes := 0, 0
	for _, a := range crew {
		delivered += a.delivered
		bytes += a.bytes
	}
	fmt.Println("delivered", delivered, "bytes", bytes)
	fmt.Println("truth run", time.Since(start))
}
