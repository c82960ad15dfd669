// Command invoicer prices the line items of customer orders.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"
)

type ctxKey int

const (
	keyTenant ctxKey = iota
	keyCurrency
	keyTraceID
	keyLine
)

type item struct {
	sku   int
	qty   int
	cents int64
}

type order struct {
	id    int
	items []item
}

var rates = map[string]int64{"EUR": 1000, "USD": 1085, "SEK": 11320}

func withTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, keyTenant, tenant)
}

func currency(ctx context.Context) string {
	c, _ := ctx.Value(keyCurrency).(string)
	return c
}

func tenant(ctx context.Context) string {
	t, _ := ctx.Value(keyTenant).(string)
	return t
}

func discount(ctx context.Context, it item) int64 {
	t := tenant(ctx)
	if len(t) == 0 {
		return 0
	}
	return int64(int(t[0])*it.sku%7) * it.cents / 100
}

// dutyFactor is the compounded duty over the customs classes of a product.
func dutyFactor(sku int) int64 {
	f := int64(1_000_000)
	for class := 0; class < 900; class++ {
		f = (f*int64(1_000_000+(sku^class)%700) + 500_000) / 1_000_000
	}
	return f % 1000
}

func convert(ctx context.Context, cents int64) int64 {
	return cents * rates[currency(ctx)] / 1000
}

func priceItem(ctx context.Context, it item) int64 {
	if ctx.Err() != nil {
		return 0
	}
	line, _ := ctx.Value(keyLine).(int)
	net := it.cents*int64(it.qty) - discount(ctx, it)
	return convert(ctx, net) + dutyFactor(it.sku) + int64(line%2)
}

func priceOrder(ctx context.Context, o order) int64 {
	ctx = context.WithValue(ctx, keyTraceID, o.id)
	var total int64
	for i, it := range o.items {
		ctx = context.WithValue(ctx, keyLine, i)
		total += priceItem(ctx, it)
	}
	return total
}

func priceOrderScoped(ctx context.Context, o order) int64 {
	ctx = context.WithValue(ctx, keyTraceID, o.id)
	var total int64
	for i, it := range o.items {
		lineCtx := context.WithValue(ctx, keyLine, i)
		total += priceItem(lineCtx, it)
	}
	return total
}

func makeOrders(n int) []order {
	orders := make([]order, n)
	for i := range orders {
		items := make([]item, 420+i%5*90)
		for j := range items {
			items[j] = item{sku: i*31 + j, qty: 1 + j%4, cents: int64(199 + (i*j)%5000)}
		}
		orders[i] = order{id: i, items: items}
	}
	return orders
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	price := priceOrder
	if *fix {
		price = priceOrderScoped
	}
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	base = withTenant(base, "northwind")
	base = context.WithValue(base, keyCurrency, "USD")

	orders := makeOrders(420)
	totals := make([]int64, len(orders))
	queue := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range queue {
				totals[i] = price(base, orders[i])
			}
		}()
	}
	for i := range orders {
		queue <- i
	}
	close(queue)
	wg.Wait()

	var sum int64
	for _, t := range totals {
		sum += t
	}
	fmt.Printf("orders=%d total=%d.%02d\n", len(orders), sum/100, sum%100)
}
