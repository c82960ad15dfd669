package msgpack_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"qinst.dev/sddf"
	records "qinst.dev/sddf/msgpack"
	"qinst.dev/sddf/spec"
)

// order has what a service's type may have: tags, a map, a nested type, one that encodes itself.
type order struct {
	ID    string         `msgpack:"id"`
	Lines []line         `msgpack:"lines"`
	Notes map[string]any `msgpack:"notes,omitempty"`
	Price money          `msgpack:"price"`
	Made  time.Time      `msgpack:"made"`
	gone  int
}

type line struct {
	Article string `msgpack:"article"`
	Count   int    `msgpack:"count"`
}

type money struct{ cents int64 }

func (m money) EncodeMsgpack(e *msgpack.Encoder) error {
	if m.cents < 0 {
		return errors.New("a negative price")
	}
	return e.EncodeString(fmt.Sprintf("%d.%02d", m.cents/100, m.cents%100))
}

func (m *money) DecodeMsgpack(d *msgpack.Decoder) error {
	s, err := d.DecodeString()
	if err != nil {
		return err
	}
	var whole, part int64
	_, err = fmt.Sscanf(s, "%d.%d", &whole, &part)
	m.cents = 100*whole + part
	return err
}

var orders = records.Define[order]("order")

func TestType(t *testing.T) {
	t.Parallel()
	want := order{"a7", []line{{"nut", 3}, {"bolt", 4}}, map[string]any{"gift": true}, money{1999}, time.Unix(5, 6), 0}
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "test", nil)
	if err := errors.Join(orders.Write(w, want), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := sddf.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for p, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind != spec.Data {
			continue
		}
		found++
		var got order
		if err := orders.Decode(p, &got); err != nil {
			t.Fatal(err)
		}
		if !got.Made.Equal(want.Made) || fmt.Sprint(got.ID, got.Lines, got.Notes, got.Price) != fmt.Sprint(want.ID,
			want.Lines, want.Notes, want.Price) {
			t.Errorf("read %+v, expected %+v", got, want)
		}
	}
	if found != 1 {
		t.Errorf("found %d records, expected 1", found)
	}
	if err := orders.Write(w, order{Price: money{-1}}); err == nil || !strings.Contains(err.Error(), "negative") {
		t.Errorf("a value that cannot be encoded: %v", err)
	}
	if err := orders.Emit(order{Price: money{-1}}); err != nil {
		t.Errorf("without a trace nothing is encoded, and yet: %v", err)
	}
}
