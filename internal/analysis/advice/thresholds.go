package advice

// A threshold is the smallest value of a number that is worth a reader's time.
type threshold int

const (
	shortRun threshold = iota
	serialRun
	serialShare
	aloneBusy
	aloneShare
	idleShare
	readyPerProc
	startedShare
	spinShare
	queuedShare
	heldShare
	heldOffShare
	gainShare
	saturatedShare
	bufferShare
	balanceRatio
	balanceShare
	unusedShare
	barrierShare
	starvedShare
	turnShare
	collectorShare
	takenShare
	syncShare
	pathShare
	holderShare
	procsShare
	readyShare
	someCollector
	stuckShare
	leftCount
	leftSpread
	endlessCount
	endlessSpread
	forcedShare
	poolShare
	connectShare
	handoverShare
	vainShare
	tinyCount
	tinyShare
	numThresholds
)

// Threshold is a row of the table of thresholds.
type Threshold struct {
	Name   string
	Value  float64
	Reason string
}

// thresholds has each threshold once, with the reason for its value. A tenth of the run is the
// usual one, because a change that can gain less is not the first to make.
var thresholds = [numThresholds]Threshold{
	shortRun:       {"short-run", 5e6, "ns: a shorter run is the start and the end of the program"},
	serialRun:      {"serial-run", 0.90, "share of the time with a busy processor in which one goroutine alone was runnable: above it the others did next to nothing"},
	serialShare:    {"serial-share", 0.10, "share of the run: a part that runs alone and is shorter can gain less than a tenth"},
	aloneBusy:      {"alone-busy", 1.25, "processors busy on average during a part: below it no other one was busy most of the time"},
	aloneShare:     {"alone-share", 0.80, "share of the time with one runnable goroutine that has one cause: below it there are several"},
	idleShare:      {"idle-share", 0.10, "share of the run in which nothing ran"},
	readyPerProc:   {"ready-per-processor", 1.0, "goroutines ready at a time for each processor: one more could work all the time"},
	startedShare:   {"started-share", 0.10, "share of busy time in goroutines without probes: more than a reader should have to guess at"},
	spinShare:      {"spin-share", 0.10, "share of processor time that spins"},
	queuedShare:    {"queued-share", 0.10, "share of the run in which somebody waited for the lock"},
	heldShare:      {"held-share", 0.05, "share of the run that the lock was held: who waits for one that is held for less waits for something else"},
	heldOffShare:   {"held-off-share", 0.50, "share of a lock's holds in which its holder had no processor: above it what the lock guards is not what takes the time"},
	gainShare:      {"gain-share", 0.05, "share of the run that could be gained if all processors were busy: with less, waits cost nothing"},
	saturatedShare: {"saturated-share", 0.80, "share of the run with a queue from which on other code's normalized processor time misleads (Quartz, 3.2.5)"},
	bufferShare:    {"buffer-share", 0.05, "share of the run that both sides of a channel waited, each: two sides make a tenth"},
	balanceRatio:   {"balance-ratio", 1.5, "longest goroutine's work over the mean of the others: less is chance"},
	balanceShare:   {"balance-share", 0.50, "share of the run that the longest goroutine worked: else something else made the run long"},
	unusedShare:    {"unused-share", 0.20, "share of the run in which not all processors were busy: else all of them had work anyway"},
	barrierShare:   {"barrier-share", 0.10, "share of the run in which two or more waited at a barrier"},
	starvedShare:   {"starved-share", 0.50, "share of processor time in fewer goroutines than there are processors"},
	turnShare:      {"turn-share", 0.50, "share of the run that goroutines worked one behind the other"},
	collectorShare: {"collector-share", 0.15, "share of processor time that the collector had: a program that allocates has 5 to 12 percent by default"},
	takenShare:     {"taken-share", 0.20, "share of the memory taken that is one procedure's: below it no procedure is the first to look at"},
	pathShare:      {"path-share", 0.05, "share of the critical path that is waits for the outside in one place"},
	holderShare:    {"holder-share", 0.50, "share of a lock's holds in which its holder waits for the outside"},
	procsShare:     {"procs-share", 0.80, "share of the run in which all processors that the program uses were busy"},
	readyShare:     {"ready-share", 0.20, "goroutines ready on average that one processor more would run"},
	someCollector:  {"some-collector", 0.05, "share of processor time that the collector had, where goroutines also took much to get memory"},
	stuckShare:     {"stuck-share", 0.10, "share of the run for which somebody waits for a lock whose holder has ended"},
	leftCount:      {"left-count", 20, "goroutines of a kind that wait at the end in one place: fewer may be workers"},
	leftSpread:     {"left-spread", 0.30, "share of the run between the beginnings of the first and the last of these waits: workers begin to wait together"},
	endlessCount:   {"endless-count", 100, "goroutines of a kind of which none ended: fewer may be workers, or connections"},
	endlessSpread:  {"endless-spread", 0.50, "share of the run between the creations of the first and the last of these: workers are created together"},
	forcedShare:    {"forced-share", 0.05, "share of the run in which goroutines wait for collections that they have asked for"},
	poolShare:      {"pool-share", 0.10, "share of the run with goroutines that wait for something of a library's pool"},
	connectShare:   {"connect-share", 0.25, "connections opened for each call of the procedure that does it: fewer are reused"},
	handoverShare:  {"handover-share", 0.15, "share of the procedures' time in operations on channels, at least by samples: with less, larger pieces gain little"},
	vainShare:      {"vain-share", 0.10, "share of busy time that wake-ups in vain take"},
	tinyCount:      {"tiny-count", 5000, "goroutines of a kind"},
	tinyShare:      {"tiny-share", 0.05, "share of busy time that it takes to start and end them"},
	syncShare:      {"sync-share", 0.10, "share of processor time that is operations on synchronization objects"},
}

// Thresholds returns the table.
func Thresholds() []Threshold { return thresholds[:] }

func (t threshold) value() float64 { return thresholds[t].Value }
