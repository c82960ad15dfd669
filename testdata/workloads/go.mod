module workloads

go 1.26
