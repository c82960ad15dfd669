package profile

// Pair is an entry of two profiles; nil: one of them does not have it.
type Pair struct{ Was, Now *Entry }

// Pairs are the entries of two profiles by their kinds and IDs: first those of the second one, in
// its order, then those that only the first one has.
func Pairs(was, now []Entry) []*Pair {
	at := map[string]*Pair{}
	var list []*Pair
	of := func(e *Entry) *Pair {
		id := e.Kind + " " + e.ID
		if at[id] == nil {
			at[id] = &Pair{}
			list = append(list, at[id])
		}
		return at[id]
	}
	for i := range now {
		of(&now[i]).Now = &now[i]
	}
	for i := range was {
		of(&was[i]).Was = &was[i]
	}
	return list
}

// Differs is by how much the processor time of the entry itself differs, in ns.
func (p *Pair) Differs() int64 {
	var was, now int64
	if p.Was != nil {
		was = p.Was.SelfNPT
	}
	if p.Now != nil {
		now = p.Now.SelfNPT
	}
	return max(now-was, was-now)
}
