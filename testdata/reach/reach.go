//go:build never

// Package reach requires libraries that reach into the runtime.
package reach

import (
	_ "github.com/agiledragon/gomonkey/v2"
	_ "github.com/bytedance/gopkg/lang/fastrand"
	_ "github.com/bytedance/gopkg/util/gopool"
	_ "github.com/dgraph-io/ristretto/v2"
	_ "github.com/ebitengine/purego"
	_ "github.com/felixge/fgprof"
	_ "github.com/goccy/go-json"
	_ "github.com/grafana/pyroscope-go/godeltaprof"
	_ "github.com/json-iterator/go"
	_ "github.com/jtolds/gls"
	_ "github.com/modern-go/concurrent"
	_ "github.com/modern-go/reflect2"
	_ "github.com/outrigdev/goid"
	_ "github.com/petermattis/goid"
	_ "github.com/puzpuzpuz/xsync/v4"
	_ "github.com/sourcegraph/conc/pool"
	_ "github.com/tetratelabs/wazero"
	_ "github.com/timandy/routine"
	_ "github.com/undefinedlabs/go-mpatch"
	_ "go.uber.org/goleak"
	_ "kernel.org/pub/linux/libs/security/libcap/psx"
)
