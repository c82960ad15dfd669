// Package modules requires the modules whose own tests are run plain and
// instrumented; see go run ./internal/trials othertests.
package modules

import (
	_ "github.com/BurntSushi/toml"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/yuin/goldmark"
	_ "go.etcd.io/bbolt"
	_ "golang.org/x/tools/go/ssa"
)
