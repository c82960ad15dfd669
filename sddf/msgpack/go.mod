module qinst.dev/sddf/msgpack

go 1.23.0

require (
	github.com/vmihailenco/msgpack/v5 v5.4.1
	qinst.dev v0.0.0
)

require github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect

replace qinst.dev => ../../
