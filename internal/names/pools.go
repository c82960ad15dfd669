package names

// Pools are functions of libraries that wait for something of which there are so many.
var Pools = map[string]string{
	"database/sql.(*DB).conn":                          "a connection of database/sql's pool",
	"net/http.(*Transport).getConn":                    "a connection of net/http's transport",
	"golang.org/x/sync/semaphore.(*Weighted).Acquire":  "a permit of the semaphore",
	"golang.org/x/sync/errgroup.(*Group).Go":           "a place in the errgroup, which has a limit",
	"golang.org/x/sync/singleflight.(*Group).Do":       "the same call of another goroutine (singleflight)",
	"golang.org/x/time/rate.(*Limiter).wait":           "the rate of the limiter",
	"go.uber.org/ratelimit.(*atomicInt64Limiter).Take": "the rate of the limiter",
	"github.com/jackc/puddle/v2.(*Pool[...]).Acquire":  "a resource of the pool",
}

// Opened are what such functions call others for, where there is none left.
var Opened = map[string]string{
	"database/sql.(*DB).conn": "a new connection for database/sql's pool, which keeps as many as SetMaxIdleConns says",
}

// IsOpened reports whether something is one of [Opened].
func IsOpened(what string) bool {
	for _, w := range Opened {
		if w == what {
			return true
		}
	}
	return false
}
