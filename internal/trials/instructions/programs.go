package instructions

// program is one that calls much. Its argument says how often it does its work.
type program struct {
	name string
	what string
	// include matches the packages that are instrumented; qinst.toml has it, too. The others are
	// those of a main module, whose symbols begin with "main.".
	include string
	// short and long are two lengths whose difference is counted, so that the start is not: some
	// 200 million instructions.
	short, long int
	timed       int // a length of half a second
}

var programs = []program{
	{"toml", "toml: decode", "github.com/BurntSushi/toml", 5, 35, 500},
	{"goldmark", "goldmark: convert", "github.com/yuin/goldmark/...", 5, 45, 800},
	{"json", "encoding/json: both ways", "encoding/json", 5, 105, 2500},
	{"interp", "an interpreter of trees", "main", 5, 205, 4000},
	{"loop", "9 M calls of 18 instructions", "main", 1000, 9_001_000, 150_000_000},
	{"zstd", "zstd: both ways", "github.com/klauspost/compress/...", 5, 55, 2000},
	{"literals", "function literals", "main", 5, 105, 4000},
	{"lasts", "a loop of main that lasts", "main", 1000, 2_501_000, 40_000_000},
	{"tengo", "tengo: a virtual machine", "github.com/d5/tengo/v2/...", 20, 180, 4000},
	{"regexp2", "regexp2: search", "github.com/dlclark/regexp2/...", 5, 20, 600},
	{"leveldb", "goleveldb: write and read", "github.com/syndtr/goleveldb/...", 20, 80, 2500},
	{"fastjson", "fastjson: parse and write", "github.com/valyala/fastjson/...", 10, 60, 25000},
	{"yaegi", "yaegi: closures of an interpreter", "github.com/traefik/yaegi/...", 20, 360, 5500},
}

// setting is one of the recorder's. A plain program has none.
type setting struct {
	name   string
	qinst  string
	traces bool // it writes a trace
}

var counted = []setting{
	{"off", "mode=off", false},
	{"count", "mode=count", true},
	{"sample", "mode=sample", true},
	{"everything traced", everything, true},
}

// everything has no bound but the memory that keeps the writer's delays from turning events into
// counts: valgrind lets one thread run at a time.
const everything = "mode=trace,budget=off,limit=0,memory=1GiB"

var timed = []setting{
	{"off", "mode=off", false},
	{"count", "mode=count", true},
	{"default", "", true},
}
