// Package front answers customers.
package front

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"examples/shop/audit"
	"examples/shop/cart"
	"examples/shop/catalog"
	"examples/shop/inventory"
	"examples/shop/pricing"
)

// Shop handles requests.
type Shop struct {
	products *catalog.Catalog
	prices   *pricing.Pricer
	stock    *inventory.Inventory
	book     *audit.Log
	orders   atomic.Int64
	mux      *http.ServeMux
}

// New returns a shop.
func New(products *catalog.Catalog, prices *pricing.Pricer, stock *inventory.Inventory, book *audit.Log) *Shop {
	s := &Shop{products: products, prices: prices, stock: stock, book: book, mux: http.NewServeMux()}
	s.mux.HandleFunc("/products", s.list)
	s.mux.HandleFunc("/order", s.order)
	return s
}

func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// list answers with the names of all products.
func (s *Shop) list(w http.ResponseWriter, _ *http.Request) {
	for _, name := range s.products.Names() {
		fmt.Fprintln(w, name)
	}
}

// order sells a cart, and answers with its price.
func (s *Shop) order(w http.ResponseWriter, r *http.Request) {
	c, err := cart.Parse(r.FormValue("cart"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	total, err := s.prices.Quote(c)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	id := int(s.orders.Add(1))
	if err := s.stock.Reserve(id, c); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	s.book.Ordered(id, total)
	fmt.Fprintln(w, total)
}
