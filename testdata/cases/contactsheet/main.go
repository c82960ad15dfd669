// Command contactsheet scales photos to thumbnails and encodes them.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"math"
	"sync"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

type photo struct {
	id   int
	w, h int
}

// camera synthesizes photos in place of a card reader.
type camera struct {
	wave [1024]uint8
}

func newCamera() *camera {
	c := &camera{}
	for i := range c.wave {
		c.wave[i] = uint8(128 + 100*math.Sin(float64(i)/1024*2*math.Pi))
	}
	return c
}

func (c *camera) develop(p photo, into *image.Gray) {
	for y := 0; y < p.h; y++ {
		row := into.Pix[y*into.Stride : y*into.Stride+p.w]
		for x := range row {
			row[x] = c.wave[(x*(p.id%7+1)+y*3)&1023]/2 + c.wave[(y*(p.id%5+2)-x)&1023]/2
		}
	}
}

// scale averages the pixels of each source box.
func scale(src *image.Gray, f int, into *image.Gray) {
	b := into.Bounds()
	for y := 0; y < b.Dy(); y++ {
		for x := 0; x < b.Dx(); x++ {
			sum := 0
			for dy := 0; dy < f; dy++ {
				o := (y*f+dy)*src.Stride + x*f
				for _, v := range src.Pix[o : o+f] {
					sum += int(v)
				}
			}
			into.Pix[y*into.Stride+x] = uint8(sum / (f * f))
		}
	}
}

type scratch struct {
	full  *image.Gray
	thumb *image.Gray
	out   bytes.Buffer
}

type studio struct {
	camera  *camera
	buffers sync.Pool
}

func newStudio(w, h, f int) *studio {
	s := &studio{camera: newCamera()}
	s.buffers.New = func() any {
		return &scratch{full: image.NewGray(image.Rect(0, 0, w, h)), thumb: image.NewGray(image.Rect(0, 0, w/f, h/f))}
	}
	return s
}

type sheet struct {
	mu    sync.Mutex
	count int
	bytes int
	crc   uint32
}

func (sh *sheet) add(jpg []byte) {
	crc := crc32.ChecksumIEEE(jpg)
	sh.mu.Lock()
	sh.count++
	sh.bytes += len(jpg)
	sh.crc ^= crc
	sh.mu.Unlock()
}

func (s *studio) thumbnail(p photo, f int, sh *sheet) error {
	b := s.buffers.Get().(*scratch)
	defer s.buffers.Put(b)
	s.camera.develop(p, b.full)
	scale(b.full, f, b.thumb)
	b.out.Reset()
	if err := jpeg.Encode(&b.out, b.thumb, &jpeg.Options{Quality: 80}); err != nil {
		return err
	}
	sh.add(b.out.Bytes())
	return nil
}

func main() {
	flag.Parse()
	start := time.Now()
	const w, h, factor = 960, 640, 3
	s := newStudio(w, h, factor)
	sh := &sheet{}
	photos := make(chan photo)
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for p := range photos {
				if err := s.thumbnail(p, factor, sh); err != nil {
					fmt.Println("photo", p.id, err)
				}
			}
		}()
	}
	for i := 0; i < 260; i++ {
		photos <- photo{id: i, w: w, h: h}
	}
	close(photos)
	wg.Wait()
	fmt.Printf("thumbnails %d bytes %d crc %08x\n", sh.count, sh.bytes, sh.crc)
	fmt.Println("truth run", time.Since(start))
}
