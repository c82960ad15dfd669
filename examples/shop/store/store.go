// Package store stands for the database: rows of numbers by their keys, over a network. Each query
// takes a connection of the pool, and as long as a database would.
package store

import (
	"fmt"
	"sync"
	"time"
)

// DB is a database.
type DB struct {
	pool        chan *conn
	read, write time.Duration

	mu   sync.Mutex
	rows map[string]int
}

// conn is one connection: it carries one query at a time.
type conn struct{ db *DB }

// Open returns an empty database with connections, and with latencies of reads and writes.
func Open(connections int, read, write time.Duration) *DB {
	db := &DB{pool: make(chan *conn, connections), read: read, write: write, rows: map[string]int{}}
	for range connections {
		db.pool <- &conn{db}
	}
	return db
}

// Get reads a row.
func (db *DB) Get(key string) (int, error) {
	c := <-db.pool
	defer func() { db.pool <- c }()
	return c.get(key)
}

// Put writes a row.
func (db *DB) Put(key string, value int) error {
	c := <-db.pool
	defer func() { db.pool <- c }()
	return c.put(key, value)
}

// Load fills the database, as from a file.
func (db *DB) Load(rows map[string]int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for key, value := range rows {
		db.rows[key] = value
	}
}

func (c *conn) get(key string) (int, error) {
	time.Sleep(c.db.read) // the network, and the database's disk
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	value, found := c.db.rows[key]
	if !found {
		return 0, fmt.Errorf("no row %q", key)
	}
	return value, nil
}

func (c *conn) put(key string, value int) error {
	time.Sleep(c.db.write)
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	c.db.rows[key] = value
	return nil
}
