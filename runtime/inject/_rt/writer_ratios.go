package runtime

import "unsafe"

// qinstRatioLeast is the least number of bursts of a pair that a record tells of.
const qinstRatioLeast = 10

// qinstMeasureBare puts procedures on the list whose entries are to be counted in bursts alone,
// with the hottest of the others as yardsticks.
// Context: writer.
func qinstMeasureBare() {
	y := &qinstYards
	list := (*[qinstMaxPoints]uint32)(unsafe.Pointer(qinstTracked))
	y.fresh = false
	if y.ratios == 0 {
		y.ratios = qinstAnonymous(qinstMostBare * qinstMostYards * unsafe.Sizeof(qinstRatio{}))
	}
	if y.ratios == 0 {
		return
	}
	for k := range y.yards {
		y.yard[k].bare = y.yard[k].bare || qinstControlOf(y.yard[k].point).bare
	}
	for y.yards < qinstMostYards {
		best, most := uint32(0), 0.
		for i := range qinstListed {
			c, o := qinstControlOf(list[i]), qinstRulingOf(list[i])
			if o.kind == qinstPair && o.within == 0 && !c.bare && !c.yard && c.n > most {
				best, most = list[i], c.n
			}
		}
		if most == 0 {
			break
		}
		qinstControlOf(best).yard = true
		y.yard[y.yards] = qinstYard{point: best}
		y.yards++
	}
	for i := range qinstListed {
		y.measure(list[i])
	}
	for i := range qinstNTurns {
		y.measure(qinstTurn(i).point)
	}
}

// measure puts a procedure on the list if it is bare.
// Context: writer.
func (y *qinstYardsticks) measure(point uint32) {
	if c := qinstControlOf(point); c.bare && !c.measured && y.bare < qinstMostBare {
		c.measured = true
		y.list[y.bare] = qinstBare{point: point}
		y.bare++
	}
}

// qinstNoteRatios takes in what the burst that has just ended found.
// Context: writer.
func qinstNoteRatios() {
	y := &qinstYards
	if !y.began || !y.ended {
		return
	}
	for i := range y.bare {
		u := &y.list[i]
		c := qinstControlOf(u.point)
		u.lost = u.lost || u.begun && (!c.bare || c.held == 0)
		x := u.to - u.from
		for k := range y.yards {
			if n := y.yard[k].to - y.yard[k].from; u.begun && x|n != 0 {
				r := qinstRatioOf(i, k)
				r.bursts++
				r.hits += x
				r.squares += x * x
				r.yards += n
				r.yardsq += n * n
				r.product += x * n
			}
		}
	}
}

// qinstBestYard returns the yardstick to which a procedure is in the most constant ratio.
// Context: writer.
func qinstBestYard(i uint32) (best uint32, ok bool) {
	y, least := &qinstYards, 0.
	for k := range y.yards {
		r := qinstRatioOf(i, k)
		if y.yard[k].bare || r.bursts < qinstRatioLeast || r.hits == 0 || r.yards == 0 || y.list[i].lost {
			continue
		}
		each := float64(r.hits) / float64(r.yards)
		varies := float64(r.squares) - 2*each*float64(r.product) + each*each*float64(r.yardsq)
		if varies /= float64(r.hits) * float64(r.hits); !ok || varies < least {
			best, least, ok = k, varies, true
		}
	}
	return best, ok
}

// qinstWriteRatios writes what is known of procedures whose entries are counted in bursts alone.
// Context: writer.
func qinstWriteRatios() {
	y, found := &qinstYards, uint64(0)
	for i := range y.bare {
		if _, ok := qinstBestYard(i); ok {
			found++
		}
	}
	if found == 0 {
		return
	}
	qinstRecordRatios(qinstNow(), found*72)
	for i := range y.bare {
		k, ok := qinstBestYard(i)
		if !ok {
			continue
		}
		r := qinstRatioOf(i, k)
		for _, v := range [...]uint64{uint64(y.list[i].point) | uint64(y.yard[k].point)<<32, r.before, r.bursts,
			r.hits, r.squares, r.yards, r.yardsq, r.product, y.list[i].counted} {
			qinstWord(v)
		}
	}
	qinstSeal()
}
