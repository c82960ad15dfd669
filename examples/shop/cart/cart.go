// Package cart has the products that a customer wants to buy.
package cart

import (
	"fmt"
	"strconv"
	"strings"
)

// Line is a product, and how many of it.
type Line struct {
	Product string
	Pieces  int
}

// Cart is what one customer orders.
type Cart []Line

// Parse reads a cart as customers send it: product-3=2,product-17=1.
func Parse(text string) (Cart, error) {
	var c Cart
	for part := range strings.SplitSeq(text, ",") {
		product, pieces, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(pieces)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("found %q, expected a product and a number, such as product-3=2", part)
		}
		c = append(c, Line{product, n})
	}
	return c, nil
}

// String is what Parse reads.
func (c Cart) String() string {
	var parts []string
	for _, l := range c {
		parts = append(parts, fmt.Sprintf("%s=%d", l.Product, l.Pieces))
	}
	return strings.Join(parts, ",")
}

// Pieces is how many pieces are in the cart.
func (c Cart) Pieces() (n int) {
	for _, l := range c {
		n += l.Pieces
	}
	return n
}
