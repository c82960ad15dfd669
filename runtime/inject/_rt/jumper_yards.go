package runtime

import "unsafe"

// Yardsticks. The hottest procedures with twins run without their entries being counted, but in
// bursts. There their entries are related to those of procedures that are always counted, their
// yardsticks: the entries of a caller, or of another procedure of the same work, tell how often
// they were entered. Both are read while the world is stopped, so that all that is counted was
// counted between the same two moments.

const (
	qinstMostYards = 32
	qinstMostBare  = 64
)

// qinstYards belongs to the writer, and to the jumper while the writer waits for it.
var qinstYards qinstYardsticks

type qinstYardsticks struct {
	fresh  bool // procedures are bare that are not in the list
	yards  uint32
	yard   [qinstMostYards]qinstYard
	bare   uint32
	list   [qinstMostBare]qinstBare
	began  bool    // a stop has read the numbers with which a burst begins
	ended  bool    // and those with which it ends
	ratios uintptr // of qinstRatio, one for each pair; 0: none yet
}

// qinstYard is a procedure whose entries are always counted.
type qinstYard struct {
	point uint32
	bare  bool // no more
	from  uint64
	to    uint64 // entries when a burst began and ended
}

// qinstBare is one whose entries are only counted in bursts.
type qinstBare struct {
	point    uint32
	begun    bool   // it is
	lost     bool   // a rule has changed that
	counted  uint64 // entries before
	from, to uint64
}

// qinstRatio is what bursts found of such a pair, with sums over bursts.
type qinstRatio struct {
	before  uint64 // entries of the yardstick before those of the other were no more counted
	bursts  uint64
	hits    uint64 // of the bare one
	squares uint64
	yards   uint64
	yardsq  uint64
	product uint64
}

// qinstRatioOf is what is known of the i-th bare procedure and the k-th yardstick.
// Context: writer, jumper.
func qinstRatioOf(i, k uint32) *qinstRatio {
	return (*qinstRatio)(unsafe.Pointer(qinstYards.ratios +
		uintptr(i*qinstMostYards+k)*unsafe.Sizeof(qinstRatio{})))
}

// qinstReadYards reads the numbers of entries while the world is stopped, when jumps are written.
// Context: jumper.
func qinstReadYards() {
	y, on := &qinstYards, qinstBurst.on
	if y.bare == 0 {
		return
	}
	for k := range y.yards {
		d := &y.yard[k]
		hits, _ := qinstHitsOf(d.point)
		if d.to = hits; on {
			d.from = hits
		}
	}
	for i := range y.bare {
		u := &y.list[i]
		t := qinstTableOf(u.point)
		if level := *t.levelOf(uintptr(u.point - t.base)); !on && !u.begun && level == qinstProcPlain {
			u.begun = true
			u.counted, _ = qinstHitsOf(u.point)
			for k := range y.yards {
				qinstRatioOf(i, k).before = y.yard[k].to
			}
		}
		if u.to = qinstProbed(u.point); on {
			u.from = u.to
		}
	}
	if on {
		y.began = true
	} else {
		y.ended = true
	}
}
