// Caddy, a web server, with its standard modules.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard"
)

func main() { caddycmd.Main() }
