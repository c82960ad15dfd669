// Package servers requires servers that nobody here wrote.
package servers

import _ "github.com/nats-io/nats-server/v2/server"
