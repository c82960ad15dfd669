module instructions

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/d5/tengo/v2 v2.17.0
	github.com/dlclark/regexp2 v1.12.0
	github.com/klauspost/compress v1.20.3
	github.com/syndtr/goleveldb v1.0.0
	github.com/traefik/yaegi v0.16.1
	github.com/valyala/fastjson v1.6.10
	github.com/yuin/goldmark v1.8.7
)

require github.com/golang/snappy v0.0.0-20180518054509-2e65f85255db // indirect
