package main

// A stage begins when the one before has done everything.
//
// truth: serial-run serial-procedure one-goroutine one-processor few-parts
func stages(s size) {
	list := make([]uint64, s.n)
	for i := range list {
		list[i] = stagesParse(s)
	}
	sum := uint64(0)
	for _, v := range list {
		sum += stagesStore(v, s)
	}
	keep(sum)
}

func stagesRepaired(s size) {
	parsed := make(chan uint64, 64)
	go func() {
		for range s.n {
			parsed <- stagesParse(s)
		}
		close(parsed)
	}()
	sum := uint64(0)
	for v := range parsed {
		sum += stagesStore(v, s)
	}
	keep(sum)
}

func stagesParse(s size) uint64           { return work(s.us / 2) }
func stagesStore(v uint64, s size) uint64 { return v + work(s.us/2) }
