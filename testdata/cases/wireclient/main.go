// Command wireclient stores and reads back values over a small framed
// protocol on a local TCP connection.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"
)

const (
	clients = 4
	calls   = 40
)

type header struct {
	Op   uint16
	Key  uint32
	Size uint32
}

const headerLen = 10

func (h header) encode(b []byte) {
	binary.BigEndian.PutUint16(b, h.Op)
	binary.BigEndian.PutUint32(b[2:], h.Key)
	binary.BigEndian.PutUint32(b[6:], h.Size)
}

func decodeHeader(b []byte) header {
	return header{binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:]), binary.BigEndian.Uint32(b[6:])}
}

func serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	hdr := make([]byte, headerLen)
	for {
		if _, err := io.ReadFull(in, hdr); err != nil {
			return
		}
		h := decodeHeader(hdr)
		body := make([]byte, h.Size)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		var sum uint32
		for _, c := range body {
			sum = sum*131 + uint32(c)
		}
		reply := binary.BigEndian.AppendUint32(nil, sum^h.Key)
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

type client struct {
	conn   *net.TCPConn
	joined bool
	frame  []byte
}

func dial(addr string, fix bool) (*client, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	tcp := c.(*net.TCPConn)
	if err := tcp.SetNoDelay(false); err != nil {
		return nil, err
	}
	return &client{conn: tcp, joined: fix}, nil
}

func (c *client) send(h header, body []byte) error {
	var hdr [headerLen]byte
	h.encode(hdr[:])
	if c.joined {
		c.frame = append(append(c.frame[:0], hdr[:]...), body...)
		_, err := c.conn.Write(c.frame)
		return err
	}
	if _, err := c.conn.Write(hdr[:]); err != nil {
		return err
	}
	_, err := c.conn.Write(body)
	return err
}

func (c *client) call(key uint32, body []byte) (uint32, error) {
	if err := c.send(header{Op: 1, Key: key, Size: uint32(len(body))}, body); err != nil {
		return 0, err
	}
	var reply [4]byte
	if _, err := io.ReadFull(c.conn, reply[:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(reply[:]), nil
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()

	sums := make([]uint32, clients)
	var wg sync.WaitGroup
	for id := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := dial(ln.Addr().String(), *fix)
			if err != nil {
				log.Fatal(err)
			}
			defer c.conn.Close()
			for n := 0; n < calls; n++ {
				body := []byte(fmt.Sprintf("value-%d-%d", id, n))
				v, err := c.call(uint32(id*calls+n), body)
				if err != nil {
					log.Fatal(err)
				}
				sums[id] += v
			}
		}()
	}
	wg.Wait()
	ln.Close()
	fmt.Printf("calls=%d sums=%08x\n", clients*calls, sums)
}
