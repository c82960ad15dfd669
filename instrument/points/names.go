package points

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"go/types"
	"strings"
)

// identity returns the stable id of a point. The id stays the same from build to build
// while the function keeps its name and the points before it in the function stay.
func identity(importPath, fn, kind string, ordinal int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", importPath, fn, kind, ordinal))
	return binary.LittleEndian.Uint64(sum[:])
}

// symbol returns the name that the linker and runtime.FuncForPC give to fn.
func symbol(fn *types.Func) string {
	return prefix(fn.Pkg()) + "." + local(fn)
}

func prefix(pkg *types.Package) string {
	if pkg == nil {
		return "" // the universe's error.Error
	}
	return escape(pkg.Path())
}

// local returns the symbol without its package.
func local(fn *types.Func) string {
	sig := fn.Type().(*types.Signature)
	if sig.Recv() == nil {
		if sig.TypeParams().Len() > 0 {
			return fn.Name() + "[...]"
		}
		return fn.Name()
	}
	recv := types.Unalias(sig.Recv().Type())
	ptr, pointer := recv.(*types.Pointer)
	if pointer {
		recv = types.Unalias(ptr.Elem())
	}
	named, ok := recv.(*types.Named)
	if !ok {
		return fn.Name()
	}
	name := named.Obj().Name()
	if named.TypeParams().Len() > 0 {
		name += "[...]"
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return name + "." + fn.Name()
}

// escape does the same as cmd/internal/objabi.PathToPrefix.
func escape(path string) string {
	slash := strings.LastIndex(path, "/")
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if c <= ' ' || c == '.' && i > slash || c == '%' || c == '"' || c >= 0x7F {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
