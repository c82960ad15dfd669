// Command timeline renders an activity feed in the local time of each user.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"sort"
	"strings"
	"sync"
	"time"
	_ "time/tzdata"
)

var revised = flag.Bool("fix", false, "use the revised form")

type user struct {
	name string
	zone string
}

type event struct {
	at   time.Time
	verb string
	item int
}

// calendar converts instants to the wall clock of a zone.
type calendar struct {
	zones sync.Map
}

func (c *calendar) location(zone string) *time.Location {
	if *revised {
		if l, ok := c.zones.Load(zone); ok {
			return l.(*time.Location)
		}
	}
	l, err := time.LoadLocation(zone)
	if err != nil {
		return time.UTC
	}
	if *revised {
		c.zones.Store(zone, l)
	}
	return l
}

func (c *calendar) stamp(u user, at time.Time) string {
	local := at.In(c.location(u.zone))
	return local.Format("Mon 02 Jan 15:04")
}

type feed struct {
	events []event
}

func newFeed(n int) *feed {
	f := &feed{}
	verbs := []string{"liked", "shared", "opened", "closed", "moved"}
	base := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; i < n; i++ {
		f.events = append(f.events, event{at: base.Add(time.Duration(i*i%86400*31) * time.Second), verb: verbs[i%5], item: i})
	}
	return f
}

// ranked returns the events that concern the user, most relevant first.
func (f *feed) ranked(u user, limit int) []event {
	type scored struct {
		e event
		s uint32
	}
	all := make([]scored, 0, len(f.events))
	for _, e := range f.events {
		h := fnv.New32a()
		fmt.Fprintf(h, "%s/%d", u.name, e.item)
		all = append(all, scored{e, h.Sum32()})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].s < all[j].s })
	out := make([]event, limit)
	for i := range out {
		out[i] = all[i].e
	}
	return out
}

type pages struct {
	mu    sync.Mutex
	count int
	sum   uint64
}

func (p *pages) add(html string) {
	h := fnv.New64a()
	h.Write([]byte(html))
	p.mu.Lock()
	p.count++
	p.sum ^= h.Sum64()
	p.mu.Unlock()
}

type renderer struct {
	calendar *calendar
	feed     *feed
	pages    *pages
}

func (r *renderer) render(u user) {
	var sb strings.Builder
	sb.WriteString("<ul>")
	for _, e := range r.feed.ranked(u, 40) {
		fmt.Fprintf(&sb, "<li>%s: %s %s item %d</li>", r.calendar.stamp(u, e.at), u.name, e.verb, e.item)
	}
	sb.WriteString("</ul>")
	r.pages.add(sb.String())
}

func main() {
	flag.Parse()
	start := time.Now()
	zones := []string{"Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney", "America/Sao_Paulo", "Africa/Cairo"}
	r := &renderer{calendar: &calendar{}, feed: newFeed(1500), pages: &pages{}}
	users := make(chan user, 8)
	var wg sync.WaitGroup
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for u := range users {
				r.render(u)
			}
		}()
	}
	for i := 0; i < 1000; i++ {
		users <- user{name: fmt.Sprintf("user%04d", i), zone: zones[i%len(zones)]}
	}
	close(users)
	wg.Wait()
	fmt.Println("pages", r.pages.count, "sum", r.pages.sum)
	fmt.Println("truth run", time.Since(start))
}
