// Package msgpack makes types that github.com/vmihailenco/msgpack encodes kinds of records,
// whatever their tags and encoders make of them. It is a module of its own, because package sddf
// requires nothing: use that for new types, whose fields readers know one by one, and which takes a
// tenth of the time.
package msgpack

import (
	"fmt"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Type is a kind of record with one field, "value": bytes whose unit is [spec.Msgpack].
type Type[T any] struct{ *sddf.Descriptor }

// Define makes T a kind of record. It panics if the name is empty or no text, because it is meant
// for package variables.
func Define[T any](name string) Type[T] {
	d, err := sddf.NewDescriptor(name, spec.Field{Name: "value", Type: spec.Bytes, Unit: spec.Msgpack,
		Doc: reflect.TypeFor[T]().String()})
	if err != nil {
		panic(fmt.Sprintf("msgpack.Define[%s](%q): %v", reflect.TypeFor[T](), name, err))
	}
	return Type[T]{d}
}

// Emit puts a record into the trace of the observed program, as [sddf.Type.Emit] does. A value is
// encoded only if it is written there; what its encoder says then is the error.
func (t Type[T]) Emit(v T) error {
	return t.EmitFunc(func() ([]any, error) { return encoded(v) })
}

// Write writes a record to a file of the program's own.
func (t Type[T]) Write(w *sddf.Writer, v T) error {
	values, err := encoded(v)
	if err != nil {
		return err
	}
	return t.Descriptor.Write(w, values...)
}

func encoded(v any) ([]any, error) {
	b, err := msgpack.Marshal(v)
	return []any{b}, err
}

// Decode stores a data packet's value in v.
func (t Type[T]) Decode(p *sddf.Packet, v *T) error {
	b, err := sddf.Field[[]byte](p, "value")
	if err != nil {
		return err
	}
	return msgpack.Unmarshal(b, v)
}
