// Package catalog knows the products: their names are in memory, their prices in the database.
package catalog

import (
	"fmt"

	"examples/shop/store"
)

// Catalog is the list of products.
type Catalog struct {
	db    *store.DB
	names []string
}

// Open returns a catalog of n products.
func Open(db *store.DB, n int) (*Catalog, error) {
	if n < 1 {
		return nil, fmt.Errorf("found %d products, expected one or more", n)
	}
	c, rows := &Catalog{db: db}, map[string]int{}
	for i := range n {
		name := fmt.Sprintf("product-%d", i)
		c.names = append(c.names, name)
		rows[priceOf(name)] = 100 + 7*i
	}
	db.Load(rows)
	return c, nil
}

// Names are all products.
func (c *Catalog) Names() []string { return c.names }

// Price asks the database for the price of a product.
func (c *Catalog) Price(name string) (int, error) { return c.db.Get(priceOf(name)) }

func priceOf(name string) string { return "price/" + name }
