module qinst.dev/internal/view/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	qinst.dev v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/vmihailenco/msgpack/v5 v5.4.1 // indirect
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	gonum.org/v1/gonum v0.16.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
	qinst.dev/sddf v0.1.0 // indirect
)

replace (
	qinst.dev => ../../..
	qinst.dev/extensions => ../../../extensions
	qinst.dev/sddf => ../../../sddf
)
