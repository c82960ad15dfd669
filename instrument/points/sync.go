package points

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"qinst.dev/sddf/spec"
)

// SyncForm is the way in which the probe of a synchronization operation is put into the
// text.
type SyncForm uint8

// The forms. In the first three the object is evaluated once, at the place of the
// statement, into a variable that the operation and the probe use.
const (
	SyncAfter      SyncForm = iota // a call statement, the probe after it
	SyncBefore                     // a call statement, the probe in front of it
	SyncInstead                    // a deferred call: the probe is deferred instead, and ends in a jump to the method
	SyncDefer                      // likewise, the probe is a defer after it, so that it runs first
	SyncDeferAfter                 // the same in front of it, so that it runs after it
	SyncTry                        // a call that reports success: the probe runs if it succeeded
	SyncErr                        // a call that returns an error: the probe runs if that is nil
	// a method value: [Pos, End) becomes the argument of a function that returns one with the probe
	// in front
	SyncValue
	SyncValueAfter // likewise, the probe behind
	ChanAfter      // a channel operation, the probe after the statement; the runtime knows the channel
	ChanInside     // likewise, the probe at the head of the body at Pos
	ChanCond       // likewise, the probe in the condition [Pos, End)
	ChanCount      // a select's default at Pos, which is only counted
	ChanValue      // a receive within an expression: [Pos, End) becomes a function's argument
)

// SyncObject is the kind of an operation's operand.
type SyncObject uint8

// The kinds of operands.
const (
	Variable  SyncObject = iota // the object itself, or a struct that contains it
	Pointer                     // a pointer to it
	Interface                   // an interface that holds such a pointer
	Channel
	Bound // a method value with the object as its receiver
)

// Sync is an operation on a synchronization object.
type Sync struct {
	Point    uint32
	Form     SyncForm
	Pos, End token.Pos     // the statement, unless Form says otherwise
	Call     *ast.CallExpr // not of channel operations other than close
	Operand  ast.Expr      // of Call: the receiver, a method value, or close's argument
	Path     string        // of the embedded fields from the operand to the receiver: ".S.Mutex"
	Object   SyncObject    // kind of the operand or, if there is a path, of the field at its end
	Within   string        // path of the object in the struct that the receiver points to
	Queue    int           // where the runtime finds the number of waiting goroutines; see spec
	Amount   ast.Expr      // of a semaphore, that the operation is about, if it is no constant; else nil

	method   *ast.SelectorExpr // names the operation, nil for channels
	indirect bool              // the path leads through a pointer
	refers   bool              // the object is named through a pointer to it, or an interface
}

// InLine reports whether operations are counted in line while they are only counted.
func (y *Sync) InLine() bool {
	switch y.Form {
	case ChanAfter, ChanInside, ChanCount:
		return true
	case SyncAfter, SyncBefore:
		return y.Object != Bound
	}
	return false
}

// syncOp is a method of a type of package sync, or of golang.org/x/sync/semaphore.
type syncOp struct {
	op    string
	after bool
	queue int      // offset << 8 | shift of a 32-bit word in the object; or amount
	form  SyncForm // SyncTry or SyncErr of operations that may fail
}

// tries reports whether the operation may fail, so that its call is an expression.
func (o syncOp) tries() bool { return o.form != 0 }

// noQueue is the Queue of an object without a number of waiting goroutines. The runtime
// knows the value.
const noQueue = 1<<16 - 1

// Places at which the types of package sync, in Go 1.26, keep the number of waiting
// goroutines. A Mutex keeps it in its state, above 3 flags, and an RWMutex in its Mutex,
// which comes first. The number of readers and a WaitGroup's counter are separate words.
const (
	mutexQueue   = 0<<8 | 3
	readersQueue = 16 << 8
	counterQueue = 4 << 8
)

// amount is the Queue of an operation on a semaphore, before the amount is added to it.
const (
	amount     = 1 << 16
	mostAmount = 1<<16 - 1
)

var syncOps = map[string]syncOp{
	"Mutex.Lock": {spec.OpLock, true, mutexQueue, 0}, "Mutex.Unlock": {spec.OpUnlock, false, mutexQueue, 0},
	"Mutex.TryLock": {spec.OpTryLock, true, mutexQueue, SyncTry},
	"RWMutex.Lock":  {spec.OpLock, true, mutexQueue, 0}, "RWMutex.Unlock": {spec.OpUnlock, false, mutexQueue, 0},
	"RWMutex.RLock": {spec.OpRLock, true, readersQueue, 0}, "RWMutex.RUnlock": {spec.OpRUnlock, false, readersQueue, 0},
	"RWMutex.TryLock":  {spec.OpTryLock, true, mutexQueue, SyncTry},
	"RWMutex.TryRLock": {spec.OpTryRLock, true, readersQueue, SyncTry},
	"WaitGroup.Add":    {spec.OpAdd, false, counterQueue, 0}, "WaitGroup.Go": {spec.OpAdd, false, counterQueue, 0},
	"WaitGroup.Done": {spec.OpDone, false, counterQueue, 0}, "WaitGroup.Wait": {spec.OpWait, true, counterQueue, 0},
	"Cond.Wait": {spec.OpCondWait, true, noQueue, 0}, "Cond.Signal": {spec.OpSignal, false, noQueue, 0},
	"Cond.Broadcast": {spec.OpBroadcast, false, noQueue, 0},
	"Once.Do":        {spec.OpOnce, true, noQueue, 0},
	"Locker.Lock":    {spec.OpLock, true, noQueue, 0}, "Locker.Unlock": {spec.OpUnlock, false, noQueue, 0},
	"Weighted.Acquire":    {spec.OpAcquire, true, amount, SyncErr},
	"Weighted.TryAcquire": {spec.OpAcquire, true, amount, SyncTry},
	"Weighted.Release":    {spec.OpRelease, false, amount, 0},
}

// semaphores is the package whose own locks and channels are no objects of the program's: they are
// how its operations, which are seen where they are called, wait. A goroutine that waits for a
// semaphore waits in them.
const semaphores = "golang.org/x/sync/semaphore"

// operated are the packages that have the types.
var operated = map[string]bool{"sync": true, semaphores: true}

// syncCall returns the operation on a synchronization object that a call is, nil if it
// is none.
func (f *finder) syncCall(c *ast.CallExpr) (*Sync, syncOp) {
	if isBuiltin(f.Info, c.Fun, "close") && len(c.Args) == 1 {
		return &Sync{Call: c, Operand: c.Args[0], Object: Channel, Queue: noQueue}, syncOp{op: spec.OpClose}
	}
	if sel := f.methodValue(c.Fun); sel != nil {
		y, op := f.syncMethod(sel)
		if y == nil || y.Object == Interface || op.queue == amount {
			return nil, op
		}
		y.Call, y.Operand, y.Path, y.Object = c, c.Fun, "", Bound
		return y, op
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, syncOp{} // in parentheses it is a method value
	}
	y, op := f.syncMethod(sel)
	if y == nil {
		y, op = f.wrapped(sel)
	}
	if y == nil {
		return nil, op
	}
	y.Call, y.Operand = c, sel.X
	if op.queue == amount && y.Within == "" { // a wrapper's is known
		f.measure(y)
	}
	return y, op
}

// measure finds the amount that an operation on a semaphore is about.
func (f *finder) measure(y *Sync) {
	e := y.Call.Args[len(y.Call.Args)-1]
	if v := f.Info.Types[e].Value; v != nil {
		n, exact := constant.Int64Val(v)
		y.Queue = amount + int(max(0, min(n, mostAmount)))
		if !exact {
			y.Queue = amount + mostAmount
		}
		return
	}
	y.Amount = e
}

// measured reports whether the amount of an operation can be computed again: nothing may come of
// that, and no panic.
func (f *finder) measured(y *Sync) bool { return y.Amount == nil || f.isPure(y.Amount) }

// isPure reports whether e is made of variables, fields and constants by conversions of numbers,
// and by arithmetic that cannot fail.
func (f *finder) isPure(e ast.Expr) bool {
	if f.Info.Types[e].Value != nil || isPlain(e) {
		return true
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.isPure(e.X)
	case *ast.UnaryExpr:
		return (e.Op == token.SUB || e.Op == token.ADD || e.Op == token.XOR) && f.isPure(e.X)
	case *ast.BinaryExpr:
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR, token.AND_NOT:
			return f.isPure(e.X) && f.isPure(e.Y)
		}
	case *ast.CallExpr:
		if len(e.Args) != 1 || !f.isPure(e.Args[0]) {
			return false
		}
		return f.isNumber(e) || isBuiltin(f.Info, e.Fun, "len") || isBuiltin(f.Info, e.Fun, "cap")
	}
	return false
}

// isNumber reports whether a call is a conversion to a type of numbers.
func (f *finder) isNumber(c *ast.CallExpr) bool {
	to := f.Info.Types[c.Fun]
	if !to.IsType() {
		return false
	}
	basic, ok := to.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// operates reports whether there is an operation on a synchronization object in fn itself.
func (f *finder) operates(fn *Func) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			y, _ := f.syncCall(n)
			found = found || y != nil
		}
		return !found
	})
	return found
}

// syncMethod returns the operation that a selector names, with the path to its object,
// nil if the selector names no method of a synchronization object.
func (f *finder) syncMethod(sel *ast.SelectorExpr) (*Sync, syncOp) {
	m := f.Info.Selections[sel]
	if m == nil || m.Kind() != types.MethodVal || operated[f.Types.Path()] {
		return nil, syncOp{} // these packages' own use of their types is not of interest
	}
	y := &Sync{method: sel}
	t := f.reach(y, m)
	if t == nil {
		return nil, syncOp{}
	}
	fn := m.Obj().(*types.Func)
	var key string
	if y.Object == Interface {
		if !isLocker(t) {
			return nil, syncOp{}
		}
		key = "Locker." + fn.Name()
	} else {
		recv := types.Unalias(fn.Signature().Recv().Type())
		if p, ok := recv.(*types.Pointer); ok {
			recv = types.Unalias(p.Elem())
		}
		named, ok := recv.(*types.Named)
		if !ok || fn.Pkg() == nil || !operated[fn.Pkg().Path()] {
			return nil, syncOp{}
		}
		key = named.Obj().Name() + "." + fn.Name()
	}
	op, ok := syncOps[key]
	if !ok {
		return nil, op
	}
	y.Queue, y.refers = op.queue, y.Object != Variable
	return y, op
}

// reach spells out the path from a method call's operand to the receiver and returns
// the receiver's type, nil if a part of the path cannot be named here.
func (f *finder) reach(y *Sync, m *types.Selection) types.Type {
	t := types.Unalias(m.Recv())
	if _, param := t.(*types.TypeParam); param {
		return nil
	}
	arrive := func() {
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			y.Object, t = Pointer, u.Elem()
		case *types.Interface:
			y.Object = Interface
		default:
			y.Object = Variable
		}
	}
	arrive()
	path := m.Index()
	for i, index := range path[:len(path)-1] {
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return nil
		}
		field := st.Field(index)
		if !field.Exported() && field.Pkg() != f.Types {
			return nil
		}
		y.indirect = y.indirect || i > 0 && y.Object == Pointer
		y.Path += "." + field.Name()
		t = field.Type()
		arrive()
	}
	return t
}

// syncName returns the name of the object of an operation.
func (f *finder) syncName(y *Sync) string {
	if y.method == nil {
		return f.objectName(y.Operand)
	}
	if m := f.Info.Selections[y.method]; len(m.Index()) > 1 {
		return f.promoted(y.method.X, m)
	}
	return f.objectName(y.method.X)
}

// weakName reports whether the object of an operation may have a better name
// elsewhere, because the name here is only that of a reference or a parameter.
func (f *finder) weakName(y *Sync) bool {
	if y.method == nil {
		return f.isParameter(y.Operand)
	}
	return y.refers || y.Path == "" && y.Within == "" && f.isParameter(y.method.X)
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

// syncStmt makes a sync point of a call statement, deferred or not, if the call is a
// synchronization operation.
func (p *placer) syncStmt(s ast.Stmt, e ast.Expr, inList bool) {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return
	}
	y, op := p.syncCall(c)
	if y == nil || op.tries() {
		return // tryLock handles a call that tries, as an expression
	}
	y.Pos, y.End = s.Pos(), s.End()
	name := p.syncName(y)
	_, deferred := s.(*ast.DeferStmt)
	switch {
	case !inList:
		p.skipSync(y, op, c.Pos(), InHeader)
		return
	case !p.measured(y):
		p.skipSync(y, op, c.Pos(), InExpression)
		return
	case deferred:
		if y.Form = p.deferredForm(y, op); y.Form != SyncInstead && p.fn.Exit.fewDefers {
			p.skipSync(y, op, c.Pos(), DeferLimit)
			return
		}
	case op.after:
		y.Form = SyncAfter
	default:
		y.Form = SyncBefore
	}
	p.syncPoint(y, c.Lparen, op.op, name, p.weakName(y))
}

// syncGo skips an operation that a go statement does: it is another goroutine's, at an unknown
// time.
func (p *placer) syncGo(s *ast.GoStmt) {
	if y, op := p.syncCall(s.Call); y != nil && !op.tries() && p.Limits.has(Syncs) {
		p.skipSync(y, op, s.Call.Pos(), MethodValue)
	}
}

// deferredForm returns the form of a deferred operation. A probe after the operation cannot jump
// to it.
func (f *finder) deferredForm(y *Sync, op syncOp) SyncForm {
	switch {
	case op.after:
		return SyncDeferAfter
	case !f.argless(y.Call.Fun):
		return SyncDefer
	}
	return SyncInstead
}

// argless reports whether a function has neither parameters nor results, so that a probe can jump
// to it.
func (f *finder) argless(fun ast.Expr) bool {
	t := f.Info.TypeOf(fun)
	if t == nil {
		return false
	}
	sig, ok := t.Underlying().(*types.Signature)
	return ok && sig.Params().Len()+sig.Results().Len() == 0
}

func (p *placer) syncPoint(y *Sync, pos token.Pos, op, name string, weak bool) {
	if !p.Limits.has(Syncs) {
		return
	}
	if !p.loops.room(2) {
		p.skip(p.fn, pos, spec.PointSync, name, Inline)
		p.site(p.fn, pos, op, name, spec.FlagUnseen|p.weak(weak))
		return
	}
	y.Point = uint32(len(p.set.Points))
	pt := p.add(p.fn, pos, spec.PointSync, name)
	pt.Op = op
	if weak {
		pt.Flags |= spec.FlagWeakName
	}
	p.fn.Probes.Syncs = append(p.fn.Probes.Syncs, y)
}

// tryLock makes a call of TryLock a sync point. If the lock was taken, the operand is
// evaluated a second time. Nothing may therefore be able to change it in between.
func (p *placer) tryLock(c *ast.CallExpr) {
	y, op := p.syncCall(c)
	if y == nil || !op.tries() {
		return
	}
	if !isPlain(y.Operand) || !p.measured(y) || c == p.alone || c == p.dropped && op.form == SyncTry {
		p.skipSync(y, op, c.Pos(), InExpression)
		return
	}
	y.Form, y.Pos, y.End = op.form, c.Pos(), c.End()
	p.syncPoint(y, c.Lparen, op.op, p.syncName(y), p.weakName(y))
}

// methodUse makes a method value a sync point, unless a variable holds it that is only called: then
// the calls are. The Lock of an interface may look at its stack, and has none.
func (p *placer) methodUse(e *ast.SelectorExpr) {
	y, op := p.syncMethod(e)
	switch {
	case y == nil || !p.Limits.has(Syncs) || p.closures.bound[e]:
		return
	case !p.argless(e), op.after && y.Object == Interface:
		p.skipSync(y, op, e.Pos(), MethodValue)
		return
	}
	y.Form, y.Pos, y.End = SyncValue, e.Pos(), e.End()
	if op.after {
		y.Form = SyncValueAfter
	}
	p.syncPoint(y, e.Sel.Pos(), op.op, p.syncName(y), p.weakName(y))
}

// skipSync skips an operation. The table of points has its place: readers must know that they do
// not see all of the object's operations.
func (p *placer) skipSync(y *Sync, op syncOp, pos token.Pos, why SkipReason) {
	p.skip(p.fn, pos, spec.PointSync, p.syncName(y), why)
	if p.Limits.has(Syncs) {
		p.unseen(p.fn, pos, op, y)
	}
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
