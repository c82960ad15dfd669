//go:build go1.25

package debug

import "net/http"

var origins = http.NewCrossOriginProtection()

// foreign returns why a request may be that of another site's page, nil if it is not.
func foreign(r *http.Request) error {
	asked := *r
	// every GET passes, because the check is concerned only with requests that change something
	asked.Method = http.MethodPost
	return origins.Check(&asked)
}
