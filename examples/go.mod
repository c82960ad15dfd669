module examples

go 1.26.0

require qinst.dev v0.0.0

require github.com/klauspost/compress v1.20.3 // indirect

replace qinst.dev => ../
