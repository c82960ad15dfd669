package settings

// ID is a setting's index in [Table].
type ID int

// The settings.
const (
	Mode ID = iota
	Sample
	Samplers
	Keep
	On
	Extensions
	Out
	Size
	Budget
	Bursts
	Sums
	Ctl
	Memory
	Ring
	OS
	Extra
	Virtual
)

// Form is a way to write a value; the forms of a setting are a set of them.
type Form uint16

// The forms of values, and the meaning of their number.
const (
	Text      Form = 1 << iota // any text
	Alone                      // the setting has no value
	Digit                      // a number of one digit
	Bytes                      // 64MiB, 500MB, 100: bytes
	ByteRate                   // 10MiB/s: bytes a second
	Period                     // 500ms, 10s: ns
	Frequency                  // 1000/s: ns from one to the next
	Percent                    // 2%, 0.5%: thousandths
	Delay                      // 50ns, 2us: ns
)

// Setting is one run-time setting. A value is one of its words, or of one of its forms
// with a number from Least to Most.
type Setting struct {
	Name        string
	Words       []string
	Forms       Form
	Least, Most uint64 // Most is 0 if there is no upper bound
	Expected    string // the form of a value, for messages
	Example     string // a value
	Default     string // a value, or in brackets the effect of having none
	Doc         string
}

// Table has every setting, in the order in which people read of them.
var Table = [...]Setting{
	Mode: {Name: "mode", Words: []string{"off", "count", "sample", "trace", "flight"},
		Expected: "off, count, sample, trace or flight",
		Example:  "count", Default: "trace",
		Doc: "How much is recorded. off: nothing. count: how often each point was reached. sample: counts, what goroutines wait for, and samples of where the program is. trace: events too. flight: as trace, but the last events stay in memory and become a file when qinst.Snapshot, HTTP, a trigger or a signal asks for one, and when the program panics or is killed."},
	Sample: {Name: "sample", Words: []string{"off"}, Forms: Frequency, Least: 1e4, Most: 1e9,
		Expected: "samples a second, from 1/s to 1e5/s, or off",
		Example:  "500/s", Default: "1000/s",
		Doc: "How often the tool looks at what each thread runs. Threads tell it at the system's ticks, of which a second has 100 to 1000: no more are found."},
	Samplers: {Name: "samplers", Forms: Digit, Least: 1, Most: 8, Expected: "1 to 8",
		Example: "2", Default: "1",
		Doc: "How many threads of the tool take samples."},
	Keep: {Name: "keep", Forms: Period | Bytes, Least: 32 << 10, Expected: "a time such as 10s or a size such as 16MB",
		Example: "16MB", Default: "(10s)",
		Doc: "With mode=flight: how much of the past stays in memory, as a time or as bytes. 18 MiB is the most if nothing is said."},
	On: {Name: "on", Words: []string{"USR1", "USR2", "HUP", "QUIT"}, Expected: "a signal: USR1, USR2, HUP or QUIT",
		Example: "USR2", Default: "(no signal)",
		Doc: "With mode=flight: the signal that asks for a file."},
	Extensions: {Name: "extensions", Forms: Text, Expected: "names of extensions",
		Example: "lifetimes+profile", Default: "(none)",
		Doc: "The extensions that reduce events before they are written, in this order. What follows a colon is an extension's option: sample:100."},
	Out: {Name: "out", Forms: Text, Expected: "a file",
		Example: "/tmp/%n.sddf", Default: "(%n.%p.sddf)",
		Doc: "Where the trace goes. %n is the program's name, %p its process id, or that of `qinst run`, %h the name of the host, which in Kubernetes is that of the pod. An existing file is never overwritten: a number is added to the name. - is the standard output, unix:PATH a socket. Where nothing is asked for and the working directory cannot be written to, it goes to $TMPDIR, and a line says so."},
	Size: {Name: "limit", Forms: Bytes | ByteRate,
		Expected: "bytes such as 1GiB, 500MB or 0, or a rate such as 10MiB/s",
		Example:  "10MiB/s", Default: "1GiB",
		Doc: "Bytes that the last events may take (0: no limit): older ones make room, and the file is in two parts, FILE and FILE.more. Below 16 MiB the program only counts from there on. Or bytes a second above which calls are counted, and system calls in which a goroutine keeps its processor."},
	Budget: {Name: "budget", Words: []string{"off"}, Forms: Percent, Least: 1, Most: 1000,
		Expected: "a percentage such as 2% or 0.5%, or off",
		Example:  "2%", Default: "5%",
		Doc: "The share of the processor time that recording may cost. What costs most is only counted; what costs too much even so runs without probes most of the time. Both are traced again when they cost less."},
	Bursts: {Name: "bursts", Forms: Period, Least: 1e6, Most: 10e9, Expected: "1ms to 10s, such as 10ms",
		Example: "10ms", Default: "(as the budget wants)",
		Doc: "The period at which all procedures that can run without probes lose them and get them back. It is for tests of programs and of the tool: it costs more than the budget, and has no effect with budget=off."},
	Sums: {Name: "sums", Words: []string{"once", "change"}, Forms: Period, Least: tick,
		Expected: "a period such as 1s or 500ms, once or change",
		Example:  "1s", Default: "(each 0.1s)",
		Doc: "How often totals of untraced points are written: every period, once at the end, or when a level changes."},
	Ctl: {Name: "ctl", Forms: Alone, Expected: "ctl without a value",
		Default: "(does not listen)",
		Doc:     "The program listens to qinst ctl, which lists points and changes limits, on a socket that only the same user may open."},
	Memory: {Name: "memory", Forms: Bytes, Least: 4 << 20, Most: 1 << 30, Expected: "4MiB to 1GiB, such as 64MiB",
		Example: "16MiB", Default: "64MiB",
		Doc: "How much memory the tool may use in the program. What finds no room there is counted and not traced, and the report says how often."},
	Ring: {Name: "ring", Forms: Text, Expected: "a directory",
		Example: "/var/tmp", Default: "/dev/shm",
		Doc: "The directory of the memory that survives a killed program."},
	OS: {Name: "os", Words: []string{"on", "off"}, Expected: "on or off",
		Example: "off", Default: "on",
		Doc: "Whether the operating system is asked to tell when threads get processors and lose them. It takes no privilege, but a container's filter may refuse it."},
	Extra: {Name: "extra", Forms: Delay, Least: 1, Most: 1e6, Expected: "1ns to 1ms, such as 50ns",
		Example: "50ns", Default: "(none)",
		Doc: "Each event takes so much longer. It is for experiments with qinst correct, which knows that."},
	Virtual: {Name: "vcpu", Forms: Alone, Expected: "vcpu without a value",
		Default: "(delays use a processor)",
		Doc:     "The program hands out processors of its own: delays are slept, when the goroutine next begins a region \"vcpu\" (runtime/trace). It is for experiments."},
}

// Levels are the levels of a point, each including the data of those before it.
var Levels = [...]string{"off", "count", "time", "trace"}

// Kinds are the kinds of points that rules can name; calls can only be switched off. hold stands
// for the operations that take a lock, id for one point, by its identity, and barrier for arrivals:
// entries of a procedure, or at a WaitGroup what Done stands for.
var Kinds = [...]string{"proc", "loop", "sync", "record", "call", "go", "hold", "id", "barrier"}

// PointsExpected is the form of a rule's points, for messages.
const PointsExpected = "points as in main.(*T).* or kind:loop"

// KindExpected lists Kinds, for messages.
const KindExpected = "a kind of points: proc, loop, sync, record, call, go, hold, id or barrier"

// LimitExpected is the form of a rule's limit, for messages. Package ratecontrol reads it.
const LimitExpected = "a rate such as 1e4/s, 1e4/s+500 or 1e4/s:count, or a level: off, count, time or trace, or a delay such as +5us, of a barrier +1ms or +1ms+0ns*3"

// rules are the settings about points, for the help; see [IsRule].
var rules = [...]Setting{
	{Name: "NAME", Example: "1e4/s",
		Doc: "Hits a second of the points of that name that are traced; * stands for any characters, as in main.(*Cache).*, and the folders in front of a package may be left out. 1e4/s+500: how many may come at once; 1e4/s:count: what is recorded above the rate, else they are timed."},
	{Name: "NAME", Example: "count",
		Doc: "The most that is recorded of them. off: nothing, at nearly the cost of a build without probes. count: how often. time: how long too, summed up, without events. trace: all."},
	{Name: "NAME", Example: "+5us",
		Doc: "Each call of the procedure takes so much longer, from its entry on; it is only counted. Of a loop it is each iteration: all of them at its exit, if it neither calls nor waits. +0ns: as any other, but no longer. It is for experiments."},
	{Name: "hold:NAME", Example: "+5us",
		Doc: "Each hold of the lock of that name is so much longer. id:ID is the point with that id, as qinst points prints it."},
	{Name: "barrier:NAME", Example: "+1ms+0ns*3",
		Doc: "Each arrival at the barrier, a procedure or a WaitGroup, holds a lock of the tool's for so long, waits until three have come, and holds another one for so long. NAME@67: that is called in line 67. After 1 s in which nobody came, or ten delays, it is left alone."},
	{Name: "kind:loop", Example: "1e3/s",
		Doc: "The same for all points of a kind: proc, loop, sync or record; call and go can be switched off."},
}

// IsRule reports whether a name is about points, and not a setting.
func IsRule(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] == '.' || name[i] == '*' || name[i] == ':' {
			return true
		}
	}
	return false
}
