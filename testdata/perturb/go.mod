module perturb

go 1.26
