// Command orders replays an order stream against a database.
package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

// cluster is an in-process database that speaks the driver interface.
type cluster struct {
	stock sync.Map
	execs atomic.Int64
}

func (c *cluster) Driver() driver.Driver { return nil }

func (c *cluster) Connect(ctx context.Context) (driver.Conn, error) {
	time.Sleep(4 * time.Millisecond)
	s := &session{cluster: c}
	s.handshake()
	return s, nil
}

type session struct {
	cluster *cluster
	key     [32]byte
}

func (s *session) handshake() {
	for i := 0; i < 300; i++ {
		s.key = sha256.Sum256(s.key[:])
	}
}

func (s *session) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not supported") }
func (s *session) Begin() (driver.Tx, error)           { return nil, errors.New("not supported") }
func (s *session) Close() error                        { return nil }

func (s *session) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	time.Sleep(1500 * time.Microsecond)
	s.cluster.execs.Add(1)
	v, _ := s.cluster.stock.LoadOrStore(args[0].Value.(int64), int64(1000))
	return &single{value: v.(int64)}, nil
}

type single struct {
	value int64
	done  bool
}

func (r *single) Columns() []string { return []string{"level"} }
func (r *single) Close() error      { return nil }
func (r *single) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done, dest[0] = true, r.value
	return nil
}

type order struct {
	id, article int64
	quantity    int64
}

type desk struct {
	db *sql.DB

	mu       sync.Mutex
	accepted map[int64]int64
}

func openDesk(c *cluster) *desk {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(16)
	if *revised {
		db.SetMaxIdleConns(16)
	}
	return &desk{db: db, accepted: map[int64]int64{}}
}

// score rates the fraud risk of an order.
func (d *desk) score(o order) byte {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], uint64(o.id))
	binary.LittleEndian.PutUint64(b[8:], uint64(o.article))
	sum := sha256.Sum256(b[:])
	for i := 0; i < 500; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return sum[0]
}

// confirm publishes the acceptance to the message broker.
func (d *desk) confirm(o order) {
	time.Sleep(2 * time.Millisecond)
}

func (d *desk) place(ctx context.Context, o order) error {
	var level int64
	if err := d.db.QueryRowContext(ctx, "SELECT level FROM stock WHERE article = ?", o.article).Scan(&level); err != nil {
		return err
	}
	if level < o.quantity || d.score(o) > 240 {
		return nil
	}
	d.confirm(o)
	d.mu.Lock()
	d.accepted[o.article] += o.quantity
	d.mu.Unlock()
	return nil
}

func main() {
	flag.Parse()
	start := time.Now()
	c := &cluster{}
	d := openDesk(c)
	stream := make(chan order, 16)
	var wg sync.WaitGroup
	for w := 0; w < 16; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for o := range stream {
				if err := d.place(context.Background(), o); err != nil {
					fmt.Println("order", o.id, err)
				}
			}
		}()
	}
	for i := int64(0); i < 2400; i++ {
		stream <- order{id: i, article: i % 97, quantity: i%5 + 1}
	}
	close(stream)
	wg.Wait()
	var sum int64
	for _, q := range d.accepted {
		sum += q
	}
	fmt.Println("queries", c.execs.Load(), "accepted", sum)
	fmt.Println("truth run", time.Since(start))
}
