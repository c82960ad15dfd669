package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"sort"
	"strings"
	"sync"
	"time"
)

type room struct {
	name  string
	area  int
	floor int
}

type op struct {
	kind  string
	room  room
	floor int
	reply chan answer
}

type answer struct {
	rooms  []room
	report string
}

// registrar owns the rooms; everybody else talks to it through ops.
type registrar struct {
	ops      chan op
	floors   map[int]map[string]room
	detached bool
}

func newRegistrar(detached bool) *registrar {
	return &registrar{ops: make(chan op), floors: map[int]map[string]room{}, detached: detached}
}

func (r *registrar) loop() {
	for o := range r.ops {
		switch o.kind {
		case "put":
			f := r.floors[o.room.floor]
			if f == nil {
				f = map[string]room{}
				r.floors[o.room.floor] = f
			}
			f[o.room.name] = o.room
			o.reply <- answer{}
		case "floor":
			o.reply <- answer{rooms: r.onFloor(o.floor)}
		case "report":
			o.reply <- answer{report: render(r.onFloor(o.floor))}
		}
	}
}

func (r *registrar) onFloor(f int) []room {
	out := make([]room, 0, len(r.floors[f]))
	for _, rm := range r.floors[f] {
		out = append(out, rm)
	}
	return out
}

func (r *registrar) count() (n int) {
	for _, f := range r.floors {
		n += len(f)
	}
	return n
}

func (r *registrar) ask(o op) answer {
	o.reply = make(chan answer, 1)
	r.ops <- o
	return <-o.reply
}

func (r *registrar) report(floor int) string {
	if r.detached {
		return render(r.ask(op{kind: "floor", floor: floor}).rooms)
	}
	return r.ask(op{kind: "report", floor: floor}).report
}

func render(rooms []room) string {
	sort.Slice(rooms, func(i, j int) bool { return rooms[i].name < rooms[j].name })
	var sb strings.Builder
	for _, rm := range rooms {
		side := 1
		for side*side < rm.area {
			side++
		}
		sb.WriteString(fmt.Sprintf("%-12s %3d m2 ", rm.name, rm.area))
		sb.WriteString(strings.Repeat("#", side))
		sb.WriteByte('\n')
	}
	return sb.String()
}

// tenant edits its own rooms and prints the floor now and then.
type tenant struct {
	id  int
	reg *registrar
	sum uint64
}

func (t *tenant) check(s string) {
	h := fnv.New64a()
	for i := 0; i < 2; i++ {
		h.Write([]byte(s))
	}
	t.sum ^= h.Sum64()
}

func (t *tenant) work(rounds int) {
	for i := 0; i < rounds; i++ {
		t.reg.ask(op{kind: "put", room: room{name: fmt.Sprintf("t%d-%d", t.id, i%40), area: 10 + i%40, floor: t.id}})
		t.check(t.reg.report(t.id))
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	rounds := flag.Int("n", 3500, "rounds per tenant")
	flag.Parse()
	start := time.Now()

	reg := newRegistrar(*fix)
	go reg.loop()
	tenants := make([]*tenant, 8)
	var wg sync.WaitGroup
	for i := range tenants {
		t := &tenant{id: i, reg: reg}
		tenants[i] = t
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.work(*rounds)
		}()
	}
	wg.Wait()
	close(reg.ops)
	var sum uint64
	for _, t := range tenants {
		sum += t.sum
	}
	fmt.Printf("rooms %d sum %x\n", reg.count(), sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
