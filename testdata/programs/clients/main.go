// Command clients has a server of HTTP and four clients in one process. Its arguments are how these
// connect: keep, close or tls, and how many requests each makes.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
)

func work(n int) (sum int) {
	for i := range n {
		sum = sum*31 + i
	}
	return sum
}

func handle(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, work(200_000)) }

func request(c *http.Client, url string) {
	resp, err := c.Get(url)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		panic(err)
	}
}

func main() {
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(handle))
	if s.EnableHTTP2 = os.Args[1] == "tls"; s.EnableHTTP2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	defer s.Close()
	c := s.Client()
	t := c.Transport.(*http.Transport)
	t.DisableKeepAlives, t.MaxIdleConnsPerHost = os.Args[1] == "close", 4
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range n {
				request(c, s.URL)
			}
		})
	}
	wg.Wait()
}
