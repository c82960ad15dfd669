package profile

import "math/bits"

// Usage is the processor time and other time used by a section of code, in ns.
type Usage struct {
	// BusyAt[i] is the time on a processor while i processors were busy: the
	// terms of the sum in Quartz's equation 1, before their division by i.
	BusyAt []int64
	// The times below sum over the goroutines that were in the section.
	Spin    int64 // on a processor, in loops that only wait for shared state to change
	Ready   int64 // runnable without a processor
	Blocked int64 // waiting
	Syscall int64 // in a system call without a processor
	Off     int64 // running, on a thread whose processor the operating system had taken
	Alone   int64 // of the times on a processor and runnable: no other goroutine of the program was either

	// Runnable are the integrals, over the time in each state, of the number of goroutines
	// that were runnable, on a processor or not: the nominal parallelism (Quartz, 3.1).
	Runnable [numUses]int64
	// RunnableHists are the same times by that number; nil: none.
	RunnableHists [numUses]*RunnableHist
	// Idle is the time with no processor busy that the section ended (Quartz, 3.2.5).
	Idle int64
}

// The states in which a goroutine spends time.
const (
	useBusy = iota
	useSpin
	useReady
	useBlocked
	useSyscall
	useOff
	numUses
)

// stretch is a time of a goroutine in one state.
type stretch struct {
	busy         int           // processors
	ns           int64         // its length
	runnable     int64         // the integral of the number of runnable goroutines over it
	runnableHist *RunnableHist // the times by that number; nil: it did not change
	at           int           // then the index of it
	alone        int64         // of its length
}

// RunnableHist is time, in ns, by the number of runnable goroutines, on a processor or not: 0, 1,
// 2, 3 to 4, 5 to 8, and so on, doubling; the last element is for all larger numbers.
type RunnableHist [10]int64

// runnableBin is the index of a number.
func runnableBin(n int64) int {
	if n <= 2 {
		return int(max(n, 0))
	}
	return min(bits.Len64(uint64(n-1))+1, len(RunnableHist{})-1)
}

// busy adds time on a processor while i are busy.
func (u *Usage) busy(i int, ns int64) {
	for i >= len(u.BusyAt) {
		u.BusyAt = append(u.BusyAt, 0)
	}
	u.BusyAt[i] += ns
}

// addRunnable adds times by the number of runnable goroutines.
func (u *Usage) addRunnable(use int, c *RunnableHist) {
	if c == nil {
		return
	}
	if u.RunnableHists[use] == nil {
		u.RunnableHists[use] = new(RunnableHist)
	}
	for i, ns := range c {
		u.RunnableHists[use][i] += ns
	}
}

func (u *Usage) add(v *Usage) {
	for i, ns := range v.BusyAt {
		if ns != 0 {
			u.busy(i, ns)
		}
	}
	u.Spin += v.Spin
	u.Ready += v.Ready
	u.Blocked += v.Blocked
	u.Syscall += v.Syscall
	u.Off += v.Off
	u.Idle += v.Idle
	u.Alone += v.Alone
	for i, area := range v.Runnable {
		u.Runnable[i] += area
		u.addRunnable(i, v.RunnableHists[i])
	}
}

// less subtracts usage that is part of u.
func (u *Usage) less(v *Usage) {
	for i, ns := range v.BusyAt {
		u.BusyAt[i] -= ns
	}
	u.Spin -= v.Spin
	u.Ready -= v.Ready
	u.Blocked -= v.Blocked
	u.Syscall -= v.Syscall
	u.Off -= v.Off
	u.Idle -= v.Idle
	u.Alone -= v.Alone
	for i, area := range v.Runnable {
		u.Runnable[i] -= area
	}
}

// none reports whether nothing was used.
func (u *Usage) none() bool { return u.Busy()|u.Spin|u.Ready|u.Blocked|u.Syscall|u.Off == 0 }

// Busy is the processor time, in ns, without spinning.
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
