module qinst.dev

go 1.23.0
