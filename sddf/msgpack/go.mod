module qinst.dev/sddf/msgpack

go 1.23.0

require (
	github.com/vmihailenco/msgpack/v5 v5.4.1
	qinst.dev/sddf v0.1.0
)

require github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
