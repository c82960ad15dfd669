// Command shop is a small shop: an HTTP server that sells what is in its catalog, and the customers
// that ask it. It ends when all of them have ordered, and says how fast it was. The tutorial,
// docs/guide/tutorial.md, finds out with qinst why it is slow, and makes it faster twice.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"examples/shop/audit"
	"examples/shop/catalog"
	"examples/shop/front"
	"examples/shop/inventory"
	"examples/shop/load"
	"examples/shop/pricing"
	"examples/shop/store"
)

func main() {
	orders := flag.Int("orders", 2000, "orders of all customers together")
	customers := flag.Int("customers", 16, "customers that order at the same time")
	flag.Parse()

	db := store.Open(32, time.Millisecond, 2*time.Millisecond)
	products, err := catalog.Open(db, 50)
	if err != nil {
		log.Fatal(err)
	}
	stock := inventory.New(db, products)
	book := audit.Open()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	shop := front.New(products, pricing.New(products), stock, book)
	go func() { log.Fatal(http.Serve(l, shop)) }()

	result, err := load.Run("http://"+l.Addr().String(), *orders, *customers)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d orders in %v: %.0f a second, 99 of 100 within %v\n", *orders,
		result.Took.Round(time.Millisecond), float64(*orders)/result.Took.Seconds(),
		result.P99.Round(100*time.Microsecond))
	fmt.Printf("sold %d pieces for %d, %d lines in the audit\n", stock.Sold(), result.Paid, book.Close())
}
