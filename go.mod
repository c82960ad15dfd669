module qinst.dev

go 1.26.0
