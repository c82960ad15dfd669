// Command raytrace renders a scene of spheres.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

type vec struct{ x, y, z float64 }

func (a vec) add(b vec) vec           { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec           { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) scale(f float64) vec     { return vec{a.x * f, a.y * f, a.z * f} }
func (a vec) dot(b vec) float64       { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) unit() vec               { return a.scale(1 / math.Sqrt(a.dot(a))) }
func (a vec) reflect(n vec) vec       { return a.sub(n.scale(2 * a.dot(n))) }
func shade(light, mirror float64) int { return int(math.Min(255, 255*(0.8*light+0.2*mirror))) }

type sphere struct {
	center vec
	radius float64
	shiny  float64
}

func (s *sphere) hit(from, dir vec) (float64, bool) {
	oc := from.sub(s.center)
	b := oc.dot(dir)
	c := oc.dot(oc) - s.radius*s.radius
	d := b*b - c
	if d < 0 {
		return 0, false
	}
	t := -b - math.Sqrt(d)
	return t, t > 1e-4
}

type scene struct {
	spheres []sphere
	light   vec
}

func newScene(n int) *scene {
	sc := &scene{light: vec{5, 8, -6}.unit()}
	for i := 0; i < n; i++ {
		f := float64(i)
		sc.spheres = append(sc.spheres, sphere{vec{4 * math.Sin(f*2.4), 3 * math.Cos(f*1.7), 7 + 3*math.Sin(f)}, 0.4 + math.Mod(f*0.17, 0.6), math.Mod(f*0.31, 1)})
	}
	return sc
}

func (sc *scene) nearest(from, dir vec) (*sphere, float64) {
	var best *sphere
	dist := math.MaxFloat64
	for i := range sc.spheres {
		if t, ok := sc.spheres[i].hit(from, dir); ok && t < dist {
			best, dist = &sc.spheres[i], t
		}
	}
	return best, dist
}

func (sc *scene) trace(from, dir vec, depth int) float64 {
	s, t := sc.nearest(from, dir)
	if s == nil {
		return 0.2 + 0.1*dir.y
	}
	p := from.add(dir.scale(t))
	n := p.sub(s.center).unit()
	light := math.Max(0, n.dot(sc.light))
	if blocker, _ := sc.nearest(p, sc.light); blocker != nil {
		light *= 0.3
	}
	if depth == 0 {
		return light
	}
	return light*(1-0.5*s.shiny) + 0.5*s.shiny*sc.trace(p, dir.reflect(n), depth-1)
}

type canvas struct {
	w, h   int
	pixels []byte
}

func (c *canvas) row(sc *scene, y int) {
	for x := 0; x < c.w; x++ {
		dir := vec{(float64(x) - float64(c.w)/2) / float64(c.w), (float64(c.h)/2 - float64(y)) / float64(c.w), 1}.unit()
		v := sc.trace(vec{}, dir, 3)
		c.pixels[y*c.w+x] = byte(shade(v, dir.z))
	}
}

type meter struct {
	mu   sync.Mutex
	rows int
}

func (m *meter) add() {
	m.mu.Lock()
	m.rows++
	m.mu.Unlock()
}

func render(sc *scene, c *canvas, m *meter) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < runtime.GOMAXPROCS(0); w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for y := int(next.Add(1)) - 1; y < c.h; y = int(next.Add(1)) - 1 {
				c.row(sc, y)
				m.add()
			}
		}()
	}
	wg.Wait()
}

func main() {
	flag.Parse()
	start := time.Now()
	sc := newScene(150)
	c := &canvas{w: 900, h: 600, pixels: make([]byte, 900*600)}
	m := &meter{}
	render(sc, c, m)
	fmt.Printf("rows %d crc %08x\n", m.rows, crc32.ChecksumIEEE(c.pixels))
	fmt.Println("truth run", time.Since(start))
}
