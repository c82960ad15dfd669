package points

import (
	"go/ast"
	"go/token"
	"go/types"

	"qinst.dev/sddf/spec"
)

// SyncForm is how the probe of a synchronization operation is put into the text.
type SyncForm uint8

// The forms. In the first three the object is evaluated once, where the
// statement did, into a variable that the operation and the probe use.
const (
	SyncAfter  SyncForm = iota // a call statement, the probe behind it
	SyncBefore                 // a call statement, the probe in front of it
	SyncDefer                  // a deferred call: the probe is a defer behind it, so it runs before
	SyncTry                    // a call that says whether it succeeded: the probe if it did
	ChanAfter                  // a channel operation, the probe behind the statement; the runtime knows the channel
	ChanInside                 // likewise, the probe at the head of the body at Pos
	ChanCond                   // likewise, the probe in the condition [Pos, End)
	ChanCount                  // a select's default at Pos: it is counted
)

// SyncObject is what an operation's operand is.
type SyncObject uint8

// The kinds of operands.
const (
	Variable  SyncObject = iota // the object itself, or a struct that it is in
	Pointer                     // a pointer to it
	Interface                   // an interface that holds such a pointer
	Channel
)

// Sync is an operation on a synchronization object.
type Sync struct {
	Point    uint32
	Form     SyncForm
	Pos, End token.Pos     // the statement, unless Form says otherwise
	Call     *ast.CallExpr // not of channel operations other than close
	Operand  ast.Expr      // of Call: the receiver, or close's argument
	Object   SyncObject
	Offset   int64 // of the object in what the operand is or points to
	Queue    int   // where the runtime finds how many wait; see spec
}

// syncOp is a method of a type of package sync.
type syncOp struct {
	op    string
	after bool
	queue int // offset << 8 | shift of a 32-bit word in the object
}

// noQueue is a Queue that tells nothing; the runtime knows the value.
const noQueue = 1<<16 - 1

// Where sync's types of Go 1.26 keep the number of those that wait: a Mutex in
// its state above 3 flags, an RWMutex in its Mutex, which comes first; the number
// of readers and a WaitGroup's counter are words of their own.
const (
	mutexQueue   = 0<<8 | 3
	readersQueue = 16 << 8
	counterQueue = 4 << 8
)

var syncOps = map[string]syncOp{
	"Mutex.Lock": {spec.OpLock, true, mutexQueue}, "Mutex.Unlock": {spec.OpUnlock, false, mutexQueue},
	"Mutex.TryLock": {spec.OpTryLock, true, mutexQueue},
	"RWMutex.Lock":  {spec.OpLock, true, mutexQueue}, "RWMutex.Unlock": {spec.OpUnlock, false, mutexQueue},
	"RWMutex.RLock": {spec.OpRLock, true, readersQueue}, "RWMutex.RUnlock": {spec.OpRUnlock, false, readersQueue},
	"RWMutex.TryLock": {spec.OpTryLock, true, mutexQueue}, "RWMutex.TryRLock": {spec.OpTryRLock, true, readersQueue},
	"WaitGroup.Add": {spec.OpAdd, false, counterQueue}, "WaitGroup.Go": {spec.OpAdd, false, counterQueue},
	"WaitGroup.Done": {spec.OpDone, false, counterQueue}, "WaitGroup.Wait": {spec.OpWait, true, counterQueue},
	"Cond.Wait": {spec.OpCondWait, true, noQueue}, "Cond.Signal": {spec.OpSignal, false, noQueue},
	"Cond.Broadcast": {spec.OpBroadcast, false, noQueue},
	"Once.Do":        {spec.OpOnce, true, noQueue},
}

// syncCall finds out whether a call is an operation on a synchronization object.
func (f *finder) syncCall(c *ast.CallExpr) (s *Sync, op syncOp) {
	if isBuiltin(f.Info, c.Fun, "close") && len(c.Args) == 1 {
		return &Sync{Call: c, Operand: c.Args[0], Object: Channel, Queue: noQueue}, syncOp{op: spec.OpClose}
	}
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, op
	}
	method := f.Info.Selections[sel]
	if method == nil || method.Kind() != types.MethodVal || f.Types.Path() == "sync" {
		return nil, op // sync's own use of its types is its own business
	}
	s = &Sync{Call: c, Operand: sel.X, Queue: noQueue}
	if isLocker(method.Recv()) {
		s.Object = Interface
		switch method.Obj().Name() {
		case "Lock":
			return s, syncOp{spec.OpLock, true, noQueue}
		case "Unlock":
			return s, syncOp{spec.OpUnlock, false, noQueue}
		}
		return nil, op
	}
	fn := method.Obj().(*types.Func)
	if fn.Pkg() == nil || fn.Pkg().Path() != "sync" {
		return nil, op
	}
	recv := fn.Signature().Recv().Type()
	if p, ok := types.Unalias(recv).(*types.Pointer); ok {
		recv = p.Elem()
	}
	named, ok := types.Unalias(recv).(*types.Named)
	if !ok {
		return nil, op
	}
	op, ok = syncOps[named.Obj().Name()+"."+fn.Name()]
	if !ok {
		return nil, op
	}
	s.Queue = op.queue
	if s.Offset, ok = f.offset(method); !ok {
		return nil, op
	}
	if _, ok := method.Recv().Underlying().(*types.Pointer); ok {
		s.Object = Pointer
	}
	return s, op
}

// isLocker reports whether t is an interface with Lock and Unlock.
func isLocker(t types.Type) bool {
	iface, ok := t.Underlying().(*types.Interface)
	if _, param := types.Unalias(t).(*types.TypeParam); !ok || param {
		return false
	}
	found := 0
	for i := range iface.NumMethods() {
		if name := iface.Method(i).Name(); name == "Lock" || name == "Unlock" {
			found++
		}
	}
	return found == 2
}

// offset is where a promoted method's receiver lies in the operand. It is not
// known where the way leads through a pointer, or through types that a type
// parameter stands for.
func (f *finder) offset(method *types.Selection) (off int64, ok bool) {
	t := method.Recv()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if _, param := types.Unalias(t).(*types.TypeParam); param {
		return 0, false
	}
	path := method.Index()
	for _, i := range path[:len(path)-1] {
		st, ok := t.Underlying().(*types.Struct)
		if !ok || f.Sizes == nil {
			return 0, false
		}
		var fields []*types.Var
		for j := range i + 1 {
			fields = append(fields, st.Field(j))
			if generic(st.Field(j).Type(), 0) {
				return 0, false
			}
		}
		off += f.Sizes.Offsetsof(fields)[i]
		t = st.Field(i).Type()
	}
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		return 0, false
	}
	return off, true
}

// generic reports whether the size of t depends on a type parameter.
func generic(t types.Type, depth int) bool {
	if depth > 32 {
		return true
	}
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Array:
		return generic(t.Elem(), depth+1)
	case *types.Named, *types.Struct:
		if st, ok := t.Underlying().(*types.Struct); ok {
			for i := range st.NumFields() {
				if generic(st.Field(i).Type(), depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// syncStmt makes a call statement, deferred or not, a sync point if it is an
// operation.
func (p *placer) syncStmt(s ast.Stmt, e ast.Expr, inList bool) {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return
	}
	y, op := p.syncCall(c)
	if y == nil {
		return
	}
	y.Pos, y.End = s.Pos(), s.End()
	name := p.objectName(y.Operand, y.Call)
	_, deferred := s.(*ast.DeferStmt)
	switch {
	case !inList:
		p.skip(p.fn, c.Pos(), spec.PointSync, name, InHeader)
		return
	case deferred && (p.fn.fewDefers || op.after):
		p.skip(p.fn, c.Pos(), spec.PointSync, name, DeferLimit)
		return
	case deferred:
		y.Form = SyncDefer
	case op.op == spec.OpTryLock || op.op == spec.OpTryRLock:
		return // the result is not looked at: as an expression, see tryLock
	case op.after:
		y.Form = SyncAfter
	default:
		y.Form = SyncBefore
	}
	p.syncPoint(y, c.Lparen, op.op, name, y.Operand)
}

func (p *placer) syncPoint(y *Sync, pos token.Pos, op, name string, object ast.Expr) {
	if !p.Limits.has(Syncs) {
		return
	}
	if !p.loops.room(2) {
		p.skip(p.fn, pos, spec.PointSync, name, Inline)
		return
	}
	y.Point = uint32(len(p.set.Points))
	pt := p.add(p.fn, pos, spec.PointSync, name)
	pt.Op = op
	if object != nil && p.isParameter(object) {
		pt.Flags |= spec.FlagParameter
	}
	p.fn.Syncs = append(p.fn.Syncs, y)
}

// tryLock makes a call of TryLock a sync point. Its operand is evaluated a second
// time if the lock was got, so it must be one that nothing can have changed.
func (p *placer) tryLock(c *ast.CallExpr) {
	y, op := p.syncCall(c)
	if y == nil || op.op != spec.OpTryLock && op.op != spec.OpTryRLock {
		return
	}
	name := p.objectName(y.Operand, c)
	if !isPlain(y.Operand) {
		p.skip(p.fn, c.Pos(), spec.PointSync, name, InExpression)
		return
	}
	y.Form, y.Pos, y.End = SyncTry, c.Pos(), c.End()
	p.syncPoint(y, c.Lparen, op.op, name, y.Operand)
}

// isPlain reports whether e is a variable or a field of one.
func isPlain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.ParenExpr:
		return isPlain(e.X)
	case *ast.SelectorExpr:
		return isPlain(e.X)
	case *ast.StarExpr:
		return isPlain(e.X)
	}
	return false
}

// received returns the operand of e if e is a receive operation and nothing else.
func received(e ast.Expr) ast.Expr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return u.X
	}
	return nil
}

// receiver returns the channel that a statement receives from as the last thing
// it does before it assigns.
func receiver(s ast.Stmt) (ch ast.Expr) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return received(s.X)
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			return received(s.Rhs[0])
		}
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); len(d.Specs) == 1 {
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok && len(v.Values) == 1 {
				return received(v.Values[0])
			}
		}
	}
	return nil
}

// chanStmt makes a statement of a list that sends or receives a sync point.
func (p *placer) chanStmt(s ast.Stmt) {
	y := &Sync{Form: ChanAfter, Pos: s.Pos(), End: s.End()}
	if send, ok := s.(*ast.SendStmt); ok {
		p.syncPoint(y, send.Arrow, spec.OpSend, p.objectName(send.Chan, nil), send.Chan)
	} else if ch := receiver(s); ch != nil {
		p.syncPoint(y, s.Pos(), spec.OpReceive, p.objectName(ch, nil), ch)
	}
}

// chanIf handles a receive in the init statement of an if.
func (p *placer) chanIf(s *ast.IfStmt) {
	if s.Init == nil {
		return
	}
	if ch := receiver(s.Init); ch != nil {
		y := &Sync{Form: ChanCond, Pos: s.Cond.Pos(), End: s.Cond.End()}
		p.syncPoint(y, s.Init.Pos(), spec.OpReceive, p.objectName(ch, nil), ch)
	}
}

// chanRange handles a range over a channel: each element that came is a receive.
func (p *placer) chanRange(s *ast.RangeStmt) {
	t := p.Info.TypeOf(s.X)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Chan); ok {
		y := &Sync{Form: ChanInside, Pos: s.Body.Lbrace + 1}
		p.syncPoint(y, s.Pos(), spec.OpReceive, p.objectName(s.X, nil), s.X)
	}
}

// chanCase handles a clause of a select, chosen.
func (p *placer) chanCase(c *ast.CommClause) {
	y := &Sync{Form: ChanInside, Pos: c.Colon + 1}
	switch s := c.Comm.(type) {
	case nil:
		y.Form = ChanCount
		p.syncPoint(y, c.Pos(), spec.OpDefault, "select", nil)
	case *ast.SendStmt:
		p.syncPoint(y, c.Pos(), spec.OpSend, p.objectName(s.Chan, nil), s.Chan)
	default:
		if ch := receiver(s); ch != nil {
			p.syncPoint(y, c.Pos(), spec.OpReceive, p.objectName(ch, nil), ch)
		}
	}
}
