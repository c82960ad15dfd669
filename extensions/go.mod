module qinst.dev/extensions

go 1.23.0

require qinst.dev/sddf v0.1.0
