package main

import (
	"bufio"
	"encoding/gob"
	"flag"
	"fmt"
	"hash/adler32"
	"io"
	"math"
	"net"
	"sync"
	"time"
)

type reading struct {
	Channel string
	Value   float64
}

type frame struct {
	Station  int
	Seq      int
	At       int64
	Readings []reading
	Flags    map[string]bool
}

// uplink ships frames of one station.
type uplink struct {
	w   *bufio.Writer
	enc *gob.Encoder
}

func newUplink(w io.Writer, keep bool) *uplink {
	u := &uplink{w: bufio.NewWriterSize(w, 16<<10)}
	if keep {
		u.enc = gob.NewEncoder(u.w)
	}
	return u
}

func (u *uplink) send(f *frame) error {
	enc := u.enc
	if enc == nil {
		enc = gob.NewEncoder(u.w)
	}
	return enc.Encode(f)
}

func (u *uplink) close() error { return u.w.Flush() }

type downlink struct {
	r   *bufio.Reader
	dec *gob.Decoder
}

func newDownlink(r io.Reader, keep bool) *downlink {
	d := &downlink{r: bufio.NewReader(r)}
	if keep {
		d.dec = gob.NewDecoder(d.r)
	}
	return d
}

func (d *downlink) receive(f *frame) error {
	dec := d.dec
	if dec == nil {
		dec = gob.NewDecoder(d.r)
	}
	return dec.Decode(f)
}

type archive struct {
	mu     sync.Mutex
	frames int
	sum    uint32
	energy float64
}

func (a *archive) store(f *frame) {
	key := fmt.Sprintf("%d/%d/%s", f.Station, f.Seq, f.Readings[0].Channel)
	var e float64
	for _, r := range f.Readings {
		e += math.Round(r.Value * r.Value)
		for k := 1.0; k < 60; k++ {
			e += math.Round(math.Cos(r.Value * k))
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.frames++
	a.sum ^= adler32.Checksum([]byte(key))
	a.energy += e
}

func station(id, n int, conn net.Conn, keep bool) error {
	defer conn.Close()
	u := newUplink(conn, keep)
	for i := 0; i < n; i++ {
		f := &frame{Station: id, Seq: i, At: int64(i) * 1e9, Flags: map[string]bool{"ok": i%5 != 0}}
		for c := 0; c < 12; c++ {
			f.Readings = append(f.Readings, reading{fmt.Sprintf("ch%02d", c), math.Sin(float64(i+c)) * 40})
		}
		if err := u.send(f); err != nil {
			return err
		}
	}
	return u.close()
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 10000, "frames per station")
	flag.Parse()
	start := time.Now()
	a := &archive{}
	var wg sync.WaitGroup
	for id := 0; id < 3; id++ {
		near, far := net.Pipe()
		wg.Add(1)
		go func() {
			if err := station(id, *n, near, *fix); err != nil {
				panic(err)
			}
		}()
		go func() {
			defer wg.Done()
			d := newDownlink(far, *fix)
			for {
				var f frame
				if err := d.receive(&f); err != nil {
					return
				}
				a.store(&f)
			}
		}()
	}
	wg.Wait()
	fmt.Printf("frames %d sum %08x energy %.0f\n", a.frames, a.sum, a.energy)
	fmt.Printf("truth run %v\n", time.Since(start))
}
