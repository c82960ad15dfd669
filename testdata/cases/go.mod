module cases

go 1.26
