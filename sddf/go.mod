module qinst.dev/sddf

go 1.23.0
