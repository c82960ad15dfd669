package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// waits are those after requests that failed, before the next try.
var waits = []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}

// mostAnswer is how much of an answer is shown, in bytes.
const mostAnswer = 200

// poster sends what is written to it, each piece with a request of its own.
type poster struct {
	e      *env
	url    string
	kind   string // of the content
	client http.Client
	sent   int64 // bytes
}

// newPoster makes one. A URL without a path gets a path.
func newPoster(e *env, to, path, kind string) (*poster, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("found -send=%q, expected a URL such as http://localhost:4318", to)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	return &poster{e: e, url: u.String(), kind: kind, client: http.Client{Timeout: 30 * time.Second}}, nil
}

// Write sends a piece. While the other end is down or busy it tries again a few times.
func (p *poster) Write(b []byte) (int, error) {
	for _, wait := range waits {
		again, err := p.post(b)
		if !again {
			return len(b), err
		}
		fmt.Fprintf(p.e.stderr, "qinst: %v; trying again in %s\n", err, wait)
		time.Sleep(wait)
	}
	_, err := p.post(b)
	return len(b), err
}

// post makes a request. again reports whether it may succeed later.
func (p *poster) post(b []byte) (again bool, err error) {
	answer, err := p.client.Post(p.url, p.kind, bytes.NewReader(b))
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		p.sent += int64(len(b))
		p.part(text)
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("%s: found status %s %q, expected 200", p.url, answer.Status, strings.TrimSpace(string(text)))
}

// part says if the other end took a part only: its answer is a message whose field 1 is not empty.
func (p *poster) part(answer []byte) {
	if len(answer) > 2 && answer[0] == 1<<3|2 && answer[1] > 0 {
		fmt.Fprintf(p.e.stderr, "qinst: %s has taken a part only, and says %q\n", p.url, answer[2:])
	}
}
