module reach

go 1.26

require (
	github.com/agiledragon/gomonkey/v2 v2.13.0
	github.com/bytedance/gopkg v0.1.4
	github.com/dgraph-io/ristretto/v2 v2.4.2
	github.com/ebitengine/purego v0.11.3
	github.com/felixge/fgprof v0.9.5
	github.com/goccy/go-json v0.12.0
	github.com/grafana/pyroscope-go/godeltaprof v0.1.12
	github.com/json-iterator/go v1.1.12
	github.com/jtolds/gls v4.20.0+incompatible
	github.com/modern-go/concurrent v0.0.0-20180228061459-e0a39a4cb421
	github.com/modern-go/reflect2 v1.0.2
	github.com/outrigdev/goid v0.3.0
	github.com/petermattis/goid v0.0.0-20261109124353-7cfa343ad0ab
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	github.com/sourcegraph/conc v0.3.0
	github.com/tetratelabs/wazero v1.12.0
	github.com/timandy/routine v1.1.6
	github.com/undefinedlabs/go-mpatch v1.0.7
	go.uber.org/goleak v1.3.0
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.78
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/pprof v0.0.0-20240227163752-401108e1b7e7 // indirect
	github.com/gopherjs/gopherjs v1.21.0 // indirect
	github.com/klauspost/compress v1.18.6 // indirect
	go.uber.org/atomic v1.7.0 // indirect
	go.uber.org/multierr v1.9.0 // indirect
	golang.org/x/sys v0.44.0 // indirect
)
