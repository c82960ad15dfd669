module programs

go 1.26.0

require qinst.dev v0.0.0

replace qinst.dev => ../..
