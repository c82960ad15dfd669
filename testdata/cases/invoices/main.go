// Command invoices renders the monthly invoices from a database.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

// The driver below answers the two queries of this program from memory.
type server struct{ queries atomic.Int64 }

func (s *server) Connect(context.Context) (driver.Conn, error) { return &conn{s}, nil }
func (s *server) Driver() driver.Driver                        { return nil }

type conn struct{ srv *server }

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not supported") }
func (c *conn) Begin() (driver.Tx, error)           { return nil, errors.New("not supported") }
func (c *conn) Close() error                        { return nil }

func (c *conn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	time.Sleep(1200 * time.Microsecond)
	c.srv.queries.Add(1)
	id := args[0].Value.(int64)
	if strings.HasPrefix(q, "SELECT id") {
		return &rows{next: id * 100, end: id*100 + 4, step: 1}, nil
	}
	return &rows{next: id * 7, end: id*7 + 12, step: 1}, nil
}

type rows struct{ next, end, step int64 }

func (r *rows) Columns() []string { return []string{"v"} }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(dest []driver.Value) error {
	if r.next >= r.end {
		return io.EOF
	}
	dest[0] = r.next
	r.next += r.step
	return nil
}

type billing struct {
	db *sql.DB
}

func (b *billing) amounts(ctx context.Context, invoice int64) ([]int64, error) {
	rs, err := b.db.QueryContext(ctx, "SELECT amount FROM lines WHERE invoice = ?", invoice)
	if err != nil {
		return nil, err
	}
	return scanAll(rs)
}

func scanAll(rs *sql.Rows) ([]int64, error) {
	defer rs.Close()
	var out []int64
	for rs.Next() {
		var v int64
		if err := rs.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rs.Err()
}

// statement renders all invoices of one customer.
func (b *billing) statement(ctx context.Context, customer int64, p *printer) error {
	rs, err := b.db.QueryContext(ctx, "SELECT id FROM invoices WHERE customer = ?", customer)
	if err != nil {
		return err
	}
	if *revised {
		ids, err := scanAll(rs)
		if err != nil {
			return err
		}
		for _, id := range ids {
			lines, err := b.amounts(ctx, id)
			if err != nil {
				return err
			}
			p.print(customer, id, lines)
		}
		return nil
	}
	defer rs.Close()
	for rs.Next() {
		var id int64
		if err := rs.Scan(&id); err != nil {
			return err
		}
		lines, err := b.amounts(ctx, id)
		if err != nil {
			return err
		}
		p.print(customer, id, lines)
	}
	return rs.Err()
}

type printer struct {
	mu    sync.Mutex
	pages int
	total int64
}

func (p *printer) print(customer, invoice int64, lines []int64) {
	var sb strings.Builder
	var sum int64
	for i := 0; i < 25; i++ {
		for _, l := range lines {
			fmt.Fprintf(&sb, "%06d %08d %10.2f\n", customer, invoice, float64(l)/100)
		}
	}
	for _, l := range lines {
		sum += l
	}
	p.mu.Lock()
	p.pages += strings.Count(sb.String(), "\n") / 60
	p.total += sum
	p.mu.Unlock()
}

func main() {
	flag.Parse()
	start := time.Now()
	srv := &server{}
	db := sql.OpenDB(srv)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	b := &billing{db: db}
	p := &printer{}
	customers := make(chan int64)
	var wg sync.WaitGroup
	for w := 0; w < 6; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for c := range customers {
				if err := b.statement(context.Background(), c, p); err != nil {
					fmt.Println("customer", c, err)
				}
			}
		}()
	}
	for c := int64(1); c <= 240; c++ {
		customers <- c
	}
	close(customers)
	wg.Wait()
	fmt.Println("pages", p.pages, "total", p.total, "queries", srv.queries.Load())
	fmt.Println("truth run", time.Since(start))
}
