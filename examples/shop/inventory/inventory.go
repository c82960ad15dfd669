// Package inventory knows how many pieces of each product are in stock.
package inventory

import (
	"fmt"
	"sync"

	"examples/shop/cart"
	"examples/shop/catalog"
	"examples/shop/store"
)

// Inventory is the stock, in memory and in the database.
type Inventory struct {
	db *store.DB

	mu   sync.Mutex
	left map[string]int
	sold int
}

const inStock = 1_000_000 // pieces of each product

// New fills the stock with all products of a catalog.
func New(db *store.DB, products *catalog.Catalog) *Inventory {
	inv := &Inventory{db: db, left: map[string]int{}}
	for _, name := range products.Names() {
		inv.left[name] = inStock
	}
	return inv
}

// Reserve takes an order's cart out of the stock.
func (inv *Inventory) Reserve(order int, c cart.Cart) error {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if err := inv.take(c); err != nil {
		return err
	}
	return inv.db.Put(fmt.Sprintf("reserved/%d", order), c.Pieces())
}

// take takes all of a cart or nothing. The caller has the lock.
func (inv *Inventory) take(c cart.Cart) error {
	for _, line := range c {
		if inv.left[line.Product] < line.Pieces {
			return fmt.Errorf("no %d pieces of %s are left", line.Pieces, line.Product)
		}
	}
	for _, line := range c {
		inv.left[line.Product] -= line.Pieces
		inv.sold += line.Pieces
	}
	return nil
}

// Sold is how many pieces were reserved.
func (inv *Inventory) Sold() int {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.sold
}
