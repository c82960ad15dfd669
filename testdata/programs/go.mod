module programs

go 1.26.0

require (
	qinst.dev/extensions v0.1.0
	qinst.dev/sddf v0.1.0
)

replace (
	qinst.dev/extensions => ../../extensions
	qinst.dev/sddf => ../../sddf
)
