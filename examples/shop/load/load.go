// Package load is customers that order at the same time, and measures how long they wait.
package load

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"examples/shop/cart"
)

// Result is how customers were served.
type Result struct {
	Took, P99 time.Duration
	Paid      int
}

// Run lets customers order until all have ordered together as often as said.
func Run(shop string, orders, customers int) (Result, error) {
	text, err := get(shop + "/products")
	if err != nil {
		return Result{}, err
	}
	products := strings.Fields(text)
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = customers

	var wg sync.WaitGroup
	var mu sync.Mutex
	var waits []time.Duration
	var paid int
	var failed error
	began := time.Now()
	for customer := range customers {
		wg.Go(func() {
			for i := customer; i < orders; i += customers {
				took, total, err := order(shop, wants(products, i))
				mu.Lock()
				waits = append(waits, took)
				paid += total
				if err != nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(waits)
	return Result{time.Since(began), waits[len(waits)*99/100], paid}, failed
}

// wants is the cart of the i-th order: two to six products.
func wants(products []string, i int) (c cart.Cart) {
	for n := range 2 + i%5 {
		c = append(c, cart.Line{Product: products[(7*i+11*n)%len(products)], Pieces: 1 + (i+n)%3})
	}
	return c
}

// order orders a cart, and returns how long that took and the price.
func order(shop string, c cart.Cart) (took time.Duration, total int, err error) {
	began := time.Now()
	text, err := get(shop + "/order?cart=" + url.QueryEscape(c.String()))
	if err != nil {
		return time.Since(began), 0, err
	}
	total, err = strconv.Atoi(strings.TrimSpace(text))
	return time.Since(began), total, err
}

func get(url string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, resp.Status, strings.TrimSpace(string(body)))
	}
	return string(body), err
}
