module delays

go 1.26
