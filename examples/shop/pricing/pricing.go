// Package pricing computes prices of carts.
package pricing

import (
	"examples/shop/cart"
	"examples/shop/catalog"
)

// Pricer computes prices of carts.
type Pricer struct{ products *catalog.Catalog }

// New returns a pricer for the products of a catalog.
func New(products *catalog.Catalog) *Pricer { return &Pricer{products} }

// Quote returns the price of a cart. Ten pieces or more are a tenth cheaper.
func (p *Pricer) Quote(c cart.Cart) (int, error) {
	total := 0
	for _, line := range c {
		price, err := p.products.Price(line.Product)
		if err != nil {
			return 0, err
		}
		total += line.Pieces * price
	}
	if c.Pieces() >= 10 {
		total -= total / 10
	}
	return total, nil
}
