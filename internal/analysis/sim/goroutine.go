package sim

import "qinst.dev/internal/analysis/steps"

// goroutine is the state of a goroutine.
type goroutine struct {
	step    steps.StepID // that it works at, or waits in
	from    nodeID       // with which that began
	proc    int32        // that it runs on, under policy Go or with a log
	runs    bool         // it has a processor
	started bool
	ended   bool
	// it has worked, and takes its step once more: it was woken for a lock that another one may
	// take, or others have come to a barrier
	again bool
	awake bool // it was last at a barrier, whose waits another one ends, and need not be woken
	// its last step was a wait that was over before it began: it need not wake up
	passed bool
	spins  bool // it keeps its processor until it is stopped
	wait
	idling
	stint
	slice
}

// wait is that of a goroutine for others.
type wait struct {
	waits   bool
	listed  bool       // see stillBlocked
	also    tokenState // another one that waits for its token
	at      nodeID     // at which it began
	blocked instant    // when that was
}

// stint is a goroutine's time on a processor, under list scheduling.
type stint struct {
	got, idle float64 // when it got its processor, and since when that was idle
}

// idling is the state of a goroutine whose wait for a timer may end earlier; see [steps.Idle].
type idling struct {
	idles   bool         // it waits for a timer, and what may end that is known
	helps   bool         // it has had such a wait
	hurries steps.StepID // up to here it leaves out what it works; 0: it does not
	due     steps.StepID // up to here its ticks have come
}

// slice is a goroutine's time on a processor, under policy Go.
type slice struct {
	rest   float64 // of its step's work, once it has begun
	owes   float64 // work before its next step's: it has woken threads
	yields bool    // it lets another one have its processor before it works on
	since  float64 // it has waited for that, or has spun
}
