package points

import (
	"go/types"

	"qinst.dev/runtime/api"
)

const extensionsPath = api.Module + "/extensions"

// reduces reports whether a method belongs to an extension. It must have no probes, because
// the tool's goroutine calls it with recorded events, and would record those calls too.
func (f *finder) reduces(fn *types.Func) bool {
	if fn == nil || fn.Signature().Recv() == nil {
		return false
	}
	for _, p := range f.Types.Imports() {
		if p.Path() != extensionsPath {
			continue
		}
		obj, ok := p.Scope().Lookup("Extension").(*types.TypeName)
		if !ok {
			return false
		}
		iface, ok := obj.Type().Underlying().(*types.Interface)
		t := fn.Signature().Recv().Type()
		return ok && (types.Implements(t, iface) || types.Implements(types.NewPointer(t), iface))
	}
	return false
}
