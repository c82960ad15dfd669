package servers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// same has an error if an answer has one, or is not the one expected.
func same(got, want string, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("found %q, expected %q", got, want)
	}
	return err
}

// redis reads values that a client has written before, and counts.
func redis(addr string, client int) (request, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	do := func(words ...string) (string, error) {
		var out strings.Builder
		fmt.Fprintf(&out, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(w), w)
		}
		if _, err := io.WriteString(c, out.String()); err != nil {
			return "", err
		}
		line, err := in.ReadString('\n')
		if err == nil && line[0] == '$' {
			line, err = in.ReadString('\n')
		}
		return strings.TrimSpace(line), err
	}
	expect := func(want string, words ...string) error {
		got, err := do(words...)
		return same(got, want, err)
	}
	return func(i int) error {
		key, value := fmt.Sprintf("key.%d.%d", client, i%100), fmt.Sprint("value ", i)
		switch i % 4 {
		case 0:
			return expect("+OK", "SET", key, value)
		case 1:
			return expect(fmt.Sprint("value ", i-1), "GET", fmt.Sprintf("key.%d.%d", client, (i-1)%100))
		case 2:
			return expect(fmt.Sprint(":", i/4+1), "INCR", fmt.Sprint("count.", client))
		}
		return expect(":1", "ZADD", fmt.Sprint("set.", client), fmt.Sprint(i), fmt.Sprint("member ", i))
	}, nil
}

func natsArgs(addr, _ string) []string {
	host, port, _ := strings.Cut(addr, ":")
	return []string{"-a", host, "-p", port}
}

// nats publishes messages and receives them.
func nats(addr string, client int) (request, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	subject := fmt.Sprint("qinst.", client)
	if _, err := fmt.Fprintf(c, "CONNECT {\"verbose\":false}\r\nSUB %s 1\r\n", subject); err != nil {
		return nil, err
	}
	return func(i int) error {
		text := fmt.Sprintf("message %d of %d", i, client)
		if _, err := fmt.Fprintf(c, "PUB %s %d\r\n%s\r\n", subject, len(text), text); err != nil {
			return err
		}
		for {
			line, err := in.ReadString('\n')
			switch {
			case err != nil:
				return err
			case strings.HasPrefix(line, "PING"):
				if _, err := io.WriteString(c, "PONG\r\n"); err != nil {
					return err
				}
			case strings.HasPrefix(line, "-ERR"):
				return errors.New(line)
			case strings.HasPrefix(line, "MSG "):
				got, err := in.ReadString('\n')
				return same(strings.TrimSpace(got), text, err)
			}
		}
	}, nil
}

// page is the content of the web server: text that compresses.
var page = bytes.Repeat([]byte("where is the time of this program? "), 1000)

func caddyArgs(addr, dir string) []string {
	config := fmt.Sprintf("{\n admin off\n auto_https off\n}\nhttp://%s {\n bind 127.0.0.1\n encode gzip\n root %s\n templates /template.html\n respond /hello \"hello {query.who}\"\n file_server\n}\n", addr, dir)
	file := filepath.Join(dir, "Caddyfile")
	for name, data := range map[string][]byte{file: []byte(config), filepath.Join(dir, "page.html"): page,
		filepath.Join(dir, "template.html"): []byte("{{range $i, $x := splitList \",\" \"a,b,c\"}}{{$x}}{{end}}")} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			panic(err) // the server needs the files
		}
	}
	return []string{"run", "--config", file, "--adapter", "caddyfile"}
}

// caddy gets a file, plain and compressed, a template, and an answer.
func caddy(addr string, client int) (request, error) {
	h := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	sum := fmt.Sprintf("%08x", crc32.ChecksumIEEE(page))
	compressed := &http.Client{Transport: &http.Transport{}}
	get := func(h *http.Client, path string) ([]byte, error) {
		r, err := h.Get("http://" + addr + path)
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		data, err := io.ReadAll(r.Body)
		if err == nil && r.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", path, r.Status)
		}
		return data, err
	}
	return func(i int) error {
		switch i % 4 {
		case 0, 1:
			data, err := get([]*http.Client{h, compressed}[i%2], "/page.html")
			return same(fmt.Sprintf("%08x", crc32.ChecksumIEEE(data)), sum, err)
		case 2:
			data, err := get(h, "/template.html")
			return same(string(data), "abc", err)
		}
		data, err := get(h, fmt.Sprint("/hello?who=", client))
		return same(string(data), fmt.Sprint("hello ", client), err)
	}, nil
}
