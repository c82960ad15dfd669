package profile

// Usage is what a section of code used, in ns.
type Usage struct {
	// BusyAt[i] is the time on a processor while i processors were busy: the
	// terms of the sum in Quartz's equation 1, before their division by i.
	BusyAt []int64
	// The times below sum over the goroutines that were in the section.
	Ready   int64 // runnable without a processor
	Blocked int64 // waiting
	Syscall int64 // in a system call without a processor
}

// busy adds time on a processor while i are busy.
func (u *Usage) busy(i int, ns int64) {
	for i >= len(u.BusyAt) {
		u.BusyAt = append(u.BusyAt, 0)
	}
	u.BusyAt[i] += ns
}

func (u *Usage) add(v *Usage) {
	for i, ns := range v.BusyAt {
		if ns != 0 {
			u.busy(i, ns)
		}
	}
	u.Ready += v.Ready
	u.Blocked += v.Blocked
	u.Syscall += v.Syscall
}

// Busy is the processor time, in ns.
func (u *Usage) Busy() (ns int64) {
	for _, x := range u.BusyAt {
		ns += x
	}
	return ns
}

// NPT is the normalized processor time, in ns (Quartz, equation 1).
func (u *Usage) NPT() float64 {
	var ns float64
	for i, x := range u.BusyAt {
		if i > 0 {
			ns += float64(x) / float64(i)
		}
	}
	return ns
}
