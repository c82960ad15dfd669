module gains

go 1.26
