package bottlenecks

// program is a module from elsewhere with a place at which a bottleneck can be put into it.
type program struct {
	name   string // of the driver's folder
	module string // its path
	file   string // of the place, within the module
	header string // the line with which its procedure begins
	proc   string // the procedure's name, without the path of its package
	hold   string // how the lock is held there: one of holds

	parallel bool // the work of an item is several goroutines'
}

// holds are ways to hold a lock named audit: its declaration, and the statements.
var holds = map[string][2]string{
	"plain": {`var audit lock.Mutex`,
		`audit.Lock(); %s; audit.Unlock()`},
	"deferred": {`var audit lock.Mutex`,
		`func() { audit.Lock(); defer audit.Unlock(); %s }()`},
	"field": {`type auditCache struct { lock.RWMutex; size int }; var audit = &auditCache{}`,
		`audit.Lock(); audit.size++; %s; audit.Unlock()`},
}

var programs = []program{
	{"goldmark", "github.com/yuin/goldmark", "parser/parser.go",
		"func (s *ids) Generate(value []byte, kind ast.NodeKind) []byte {", "(*ids).Generate", "plain", false},
	{"toml", "github.com/BurntSushi/toml", "parse.go", "func (p *parser) valueArray(it item) (any, tomlType) {",
		"(*parser).valueArray", "deferred", false},
	{"esbuild", "github.com/evanw/esbuild", "internal/js_parser/js_parser.go",
		"func (p *parser) parseStmt(opts parseStmtOpts) js_ast.Stmt {", "(*parser).parseStmt", "field", true},
	{"bbolt", "go.etcd.io/bbolt", "tx.go", "func (tx *Tx) Bucket(name []byte) *Bucket {", "(*Tx).Bucket", "field",
		false},
	{"lua", "github.com/yuin/gopher-lua", "stringlib.go", "func strFormat(L *LState) int {", "strFormat", "plain",
		false},
	{"chroma", "github.com/alecthomas/chroma/v2", "formatters/html/html.go",
		"func (f *Formatter) styleAttr(styles map[chroma.TokenType]string, tt chroma.TokenType, extraCSS ...string) string {", "(*Formatter).styleAttr", "plain", false},
	{"expr", "github.com/expr-lang/expr", "parser/parser.go",
		"func (p *Parser) parseCall(token Token, arguments []Node, checkOverrides bool) Node {", "(*Parser).parseCall",
		"deferred", false},
	{"minify", "github.com/tdewolff/minify/v2", "css/css.go",
		"func (c *cssMinifier) minifyDeclaration(property []byte, components []css.Token) error {",
		"(*cssMinifier).minifyDeclaration", "field", false},
	{"starlark", "go.starlark.net", "starlark/interp.go",
		"func (fn *Function) CallInternal(thread *Thread, args Tuple, kwargs []Tuple) (Value, error) {",
		"(*Function).CallInternal", "plain", false},
	{"hcl", "github.com/hashicorp/hcl/v2", "hclsyntax/parser.go",
		"func (p *parser) ParseBodyItem() (Node, hcl.Diagnostics) {", "(*parser).ParseBodyItem", "plain", false},
	{"sh", "mvdan.cc/sh/v3", "syntax/parser.go", "func (p *Parser) stmtList(stops ...string) ([]*Stmt, []Comment) {",
		"(*Parser).stmtList", "field", false},
	{"goja", "github.com/dop251/goja", "builtin_array.go",
		"func (r *Runtime) arrayproto_push(call FunctionCall) Value {", "(*Runtime).arrayproto_push", "deferred",
		false},
}
