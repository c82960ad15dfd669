package firefox

// Versions of the format: of processed profiles, and of those that Firefox itself writes, which
// this one is not made from.
const (
	processedVersion = 60
	geckoVersion     = 33
)

// file is the file format. Tables are columns of the same length.
type file struct {
	Meta    meta      `json:"meta"`
	Libs    []string  `json:"libs"` // always empty: symbols are known
	Shared  shared    `json:"shared"`
	Threads []*thread `json:"threads"`
}

type meta struct {
	Interval   float64    `json:"interval"` // ms
	StartTime  float64    `json:"startTime"`
	Process    int        `json:"processType"`
	Categories []category `json:"categories"`
	Product    string     `json:"product"`
	Stackwalk  int        `json:"stackwalk"`
	Version    int        `json:"version"`
	Processed  int        `json:"preprocessedProfileVersion"`
	Markers    []string   `json:"markerSchema"`
	From       string     `json:"importedFrom"`
	OneType    bool       `json:"usesOnlyOneStackType"`
	NoSymbols  bool       `json:"symbolicationNotSupported"`
	NoSearch   bool       `json:"sourceCodeIsNotOnSearchfox"`
	KeepOrder  bool       `json:"keepProfileThreadOrder"`
	Visible    []int      `json:"initialVisibleThreads,omitempty"`
}

// category is one of frames. The first grey one is the default.
type category struct {
	Name  string   `json:"name"`
	Color string   `json:"color"`
	Sub   []string `json:"subcategories"`
}

// Categories by their index in the file.
const (
	ofProcedure = iota
	ofStart
	ofNothing
)

func newMeta(program string, began int64) meta {
	other := []string{"Other"}
	return meta{Interval: 1, StartTime: ms(began), Product: program, Version: geckoVersion, Processed: processedVersion,
		Categories: []category{{"Procedure", "grey", other}, {"Goroutine", "green", other}, {"None", "transparent", other}},
		Markers:    []string{}, From: "qinst", OneType: true, NoSymbols: true, NoSearch: true, KeepOrder: true}
}

type shared struct {
	Strings   []string  `json:"stringArray"`
	Sources   sources   `json:"sources"`
	Functions functions `json:"funcTable"`
	Frames    frames    `json:"frameTable"`
	Stacks    stacks    `json:"stackTable"`
	Resources resources `json:"resourceTable"`
	Symbols   symbols   `json:"nativeSymbols"`
}

type sources struct {
	UUID     []*string `json:"uuid"`
	Filename []int     `json:"filename"` // index of a string
	Length   int       `json:"length"`
}

type functions struct {
	Name     []int  `json:"name"` // index of a string
	JS       []bool `json:"isJS"`
	ForJS    []bool `json:"relevantForJS"`
	Resource []int  `json:"resource"`
	Source   []*int `json:"source"` // index of a source
	Line     []*int `json:"lineNumber"`
	Column   []*int `json:"columnNumber"`
	Length   int    `json:"length"`
}

type frames struct {
	Address     []int  `json:"address"`
	InlineDepth []int  `json:"inlineDepth"`
	Category    []int  `json:"category"`
	Subcategory []int  `json:"subcategory"`
	Function    []int  `json:"func"`
	Symbol      []*int `json:"nativeSymbol"`
	Window      []int  `json:"innerWindowID"`
	Line        []*int `json:"line"`
	Column      []*int `json:"column"`
	Length      int    `json:"length"`
}

type stacks struct {
	Frame  []int  `json:"frame"`
	Prefix []*int `json:"prefix"` // index of a stack, which comes before; nil: it is a root
	Length int    `json:"length"`
}

// resources and symbols are always empty.
type resources struct {
	Lib    []int `json:"lib"`
	Name   []int `json:"name"`
	Host   []int `json:"host"`
	Type   []int `json:"type"`
	Length int   `json:"length"`
}

type symbols struct {
	Lib     []int `json:"libIndex"`
	Address []int `json:"address"`
	Name    []int `json:"name"`
	Size    []int `json:"functionSize"`
	Length  int   `json:"length"`
}

type thread struct {
	ProcessType string   `json:"processType"`
	ProcessName string   `json:"processName"`
	Startup     float64  `json:"processStartupTime"`
	Shutdown    *float64 `json:"processShutdownTime"`
	Register    float64  `json:"registerTime"`
	Unregister  *float64 `json:"unregisterTime"`
	Paused      []int    `json:"pausedRanges"`
	Name        string   `json:"name"`
	Main        bool     `json:"isMainThread"`
	PID         string   `json:"pid"`
	TID         int      `json:"tid"`
	Samples     samples  `json:"samples"`
	Markers     markers  `json:"markers"`

	sum int64 // ns
}

func newThread(name string) *thread {
	return &thread{ProcessType: "default", Paused: []int{}, Name: name, Samples: samples{Type: "tracing-ms"},
		Markers: markers{[]int{}, []int{}, []int{}, []int{}, []int{}, []int{}, 0}}
}

type samples struct {
	Stack  []int     `json:"stack"`
	Time   []float64 `json:"time"` // ms
	Weight []float64 `json:"weight"`
	Type   string    `json:"weightType"`
	Length int       `json:"length"`
}

// markers are always empty.
type markers struct {
	Data     []int `json:"data"`
	Name     []int `json:"name"`
	Start    []int `json:"startTime"`
	End      []int `json:"endTime"`
	Phase    []int `json:"phase"`
	Category []int `json:"category"`
	Length   int   `json:"length"`
}
