//go:build !go1.25

package debug

import (
	"errors"
	"net/http"
)

// foreign refuses what a page has sent, unless the browser says that it is of this site. A program
// that so old a Go compiles is not observed, and has nothing to say.
func foreign(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "same-origin" || site == "none" || site == "" && r.Header.Get("Origin") == "":
		return nil
	}
	return errors.New("a page sent it")
}
