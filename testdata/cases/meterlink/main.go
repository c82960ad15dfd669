package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const headerSize = 12

type header struct {
	meter  uint32
	seq    uint32
	length uint32
}

func (h header) bytes() []byte {
	b := make([]byte, headerSize)
	binary.BigEndian.PutUint32(b, h.meter)
	binary.BigEndian.PutUint32(b[4:], h.seq)
	binary.BigEndian.PutUint32(b[8:], h.length)
	return b
}

// concentrator accepts meters and acknowledges each reading.
type concentrator struct {
	ln  net.Listener
	mu  sync.Mutex
	sum uint64
	n   int
}

func (c *concentrator) serve() {
	for {
		conn, err := c.ln.Accept()
		if err != nil {
			return
		}
		go c.handle(conn)
	}
}

func (c *concentrator) handle(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	head := make([]byte, headerSize)
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[8:]))
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		ack := c.seal(body)
		if _, err := conn.Write(ack[:8]); err != nil {
			return
		}
	}
}

func (c *concentrator) seal(body []byte) [32]byte {
	sum := sha256.Sum256(body)
	for i := 0; i < 90000; i++ {
		sum = sha256.Sum256(sum[:])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.sum += binary.BigEndian.Uint64(sum[:8])
	return sum
}

type meter struct {
	id   uint32
	conn *net.TCPConn
	w    *bufio.Writer
	acks int
}

func (m *meter) post(seq uint32, body []byte) error {
	h := header{m.id, seq, uint32(len(body))}
	var w io.Writer = m.conn
	if m.w != nil {
		w = m.w
	}
	if _, err := w.Write(h.bytes()); err != nil {
		return err
	}
	if _, err := w.Write(body); err != nil {
		return err
	}
	if m.w != nil {
		if err := m.w.Flush(); err != nil {
			return err
		}
	}
	var ack [8]byte
	if _, err := io.ReadFull(m.conn, ack[:]); err != nil {
		return err
	}
	m.acks++
	return nil
}

func dial(id uint32, addr string, buffered bool) (*meter, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	m := &meter{id: id, conn: c.(*net.TCPConn)}
	if err := m.conn.SetNoDelay(false); err != nil {
		return nil, err
	}
	if buffered {
		m.w = bufio.NewWriter(c)
	}
	return m, nil
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 16, "readings per meter")
	flag.Parse()
	start := time.Now()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	c := &concentrator{ln: ln}
	go c.serve()
	var wg sync.WaitGroup
	for id := 0; id < 4; id++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m, err := dial(uint32(id), ln.Addr().String(), *fix)
			if err != nil {
				panic(err)
			}
			defer m.conn.Close()
			for i := 0; i < *n; i++ {
				if err := m.post(uint32(i), []byte(fmt.Sprintf("meter %d reading %d kWh", id, i*17))); err != nil {
					panic(err)
				}
			}
		}()
	}
	wg.Wait()
	ln.Close()
	fmt.Printf("readings %d sum %x\n", c.n, c.sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
