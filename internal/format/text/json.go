package text

import (
	"encoding/json"
	"fmt"
	"math"

	"qinst.dev/sddf"
)

func (d *dumper) jsonLine(what, name string, pairs []pair) {
	carried := ""
	if d.indent != "" {
		carried = `,"carried":true`
	}
	fmt.Fprintf(d.w, `{"packet":%s%s`, marshal(what), carried)
	if name != "" {
		fmt.Fprintf(d.w, `,"record":%s`, marshal(name))
	}
	for _, p := range pairs {
		fmt.Fprintf(d.w, ",%s:%s", marshal(p.key), marshal(p.val))
	}
	_, d.err = d.w.WriteString("}\n")
}

// marshal returns JSON for a value; a value that JSON cannot represent becomes a string.
func marshal(v any) []byte {
	switch x := v.(type) {
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			v = floating(x)
		}
	case []float64:
		list := make([]json.RawMessage, len(x))
		for i, f := range x {
			list[i] = marshal(f)
		}
		v = list
	case []byte:
		v = fmt.Sprintf("%x", x)
	case [][]byte:
		list := make([]string, len(x))
		for i, b := range x {
			list[i] = fmt.Sprintf("%x", b)
		}
		v = list
	case sddf.Array:
		v = map[string]any{"extents": x.Dims, "cells": json.RawMessage(marshal(x.Cells))}
	}
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(fmt.Sprint(v))
	}
	return b
}
