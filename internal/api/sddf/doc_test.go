package sddf_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/SDDF.md")

const docFile = "../../../docs/SDDF.md"

// generated matches a part of the document that is made from package spec.
var generated = regexp.MustCompile(`(?s)(<!-- (\w+): generated[^\n]*-->\n).*?(<!-- end -->)`)

// The document's tables and its example are those of the code.
func TestDocument(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]func() string{"example": exampleText, "records": recordsText, "events": eventsText,
		"counts": countsText}
	seen := 0
	want := generated.ReplaceAllStringFunc(string(old), func(s string) string {
		m := generated.FindStringSubmatch(s)
		part := parts[m[2]]
		if part == nil {
			t.Fatalf("no part %q", m[2])
		}
		seen++
		return m[1] + part() + m[3]
	})
	if seen != len(parts) {
		t.Errorf("%d generated parts, want %d", seen, len(parts))
	}
	if want == string(old) {
		return
	}
	if !*update {
		t.Fatalf("docs/SDDF.md is not what package spec says: run go test ./internal/api/sddf -run TestDocument -update, and read the difference")
	}
	if err := os.WriteFile(docFile, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (x example) write() []byte {
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "ex", []spec.Record{x.rec})
	w.Attribute("program", "p")
	w.Data(7, uint64(100), []byte{
		3, 0, 0, 1, 16, 0, 0, 0, // word 0: delta 16, kind 1, probe 3
		3, 0, 0, 2, 32, 0, 0, 0, // word 0: delta 32, kind 2, probe 3
	})
	w.Close()
	return out.Bytes()
}

type example struct{ rec spec.Record }

func theExample() example {
	probe := []spec.BitField{{Name: "probe", Word: 0, Bit: 0, Width: 24, Unit: spec.Probe}}
	return example{spec.Record{Tag: 7, Name: "ev", Fields: []spec.Field{
		{Name: "t", Type: spec.U64, Unit: spec.Ticks}, {Name: "e", Type: spec.Packed},
	}, Layout: &spec.Layout{Delta: "t", Variants: []spec.Variant{
		{Kind: 1, Name: "enter", Words: 1, Fields: probe}, {Kind: 2, Name: "exit", Words: 1, Fields: probe},
	}}}}
}

// exampleText is the worked example: each packet's bytes with their meaning.
func exampleText() string {
	data := theExample().write()
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	b.WriteString("```\n")
	from := int64(0)
	line := func(to int64, what string) {
		for first := true; from < to; first = false {
			n := min(16, to-from)
			fmt.Fprintf(&b, "%04x  %-48s", from, hex.EncodeToString(data[from:from+n]))
			if first {
				b.WriteString(what)
			}
			b.WriteString("\n")
			from += n
		}
	}
	packet := func(p *sddf.Packet, what, sums string) {
		line(p.Off+p.Body(), what)
		line(p.Off+p.Len, sums)
	}
	packet(r.Header(), fmt.Sprintf(`header: version %d, written by "ex"`, spec.Version), "its checksum")
	for p, err := range r.Packets() {
		if err != nil {
			panic(err)
		}
		sums := "its checksum"
		if p.Kind == spec.Data {
			sums = "its checksums: of the 16 bytes, of the rest"
		}
		packet(p, map[spec.PacketKind]string{spec.Attribute: `attribute: program = "p"`,
			spec.Descriptor: `descriptor: tag 7 is "ev"`,
			spec.Data:       "data: an ev; enter at 116, exit at 148",
			spec.Check:      "check: 3 packets, and the sum of their checksums"}[p.Kind], sums)
	}
	b.WriteString("```\n")
	return trimLines(b.String())
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func recordsText() string {
	var b strings.Builder
	for _, r := range spec.Records {
		fmt.Fprintf(&b, "### %d `%s`: %s\n\n| field | type | unit | meaning |\n|---|---|---|---|\n", r.Tag, r.Name,
			r.Doc)
		for _, f := range r.Fields {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, f.Unit, f.Doc)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func eventsText() string { return layoutText(&spec.Events) }
func countsText() string { return layoutText(&spec.Counts) }

func layoutText(l *spec.Layout) string {
	var b strings.Builder
	b.WriteString("| kind | entry | words | meaning | fields: word, bits |\n|---|---|---|---|---|\n")
	for _, v := range l.Variants {
		kind := "-"
		if v.Kind >= 0 {
			kind = fmt.Sprint(v.Kind)
		}
		var fields []string
		for _, f := range v.Fields {
			fields = append(fields, fmt.Sprintf("`%s` %d, %d..%d: %s", f.Name, f.Word, f.Bit, f.Bit+f.Width-1, f.Doc))
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", kind, v.Name, v.Words, v.Doc, strings.Join(fields, "; "))
	}
	return b.String()
}

// The document's hex example decodes to its right column.
func TestDocumentExample(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for _, m := range regexp.MustCompile(`(?m)^[0-9a-f]{4}  ([0-9a-f]+)`).FindAllSubmatch(doc, -1) {
		b, err := hex.DecodeString(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, b...)
	}
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		p, err := r.Next()
		if err != nil {
			break
		}
		if p.Kind != spec.Data {
			continue
		}
		block, _ := r.ReadBlob(nil, p.Values[1].(sddf.Blob))
		sddf.Entries(p.Record.Layout, block, p.Values[0].(uint64), func(e *sddf.Entry) error {
			got = append(got, fmt.Sprintf("%s at %d probe %d", e.Variant.Name, e.Time, e.Values[0]))
			return nil
		})
	}
	if s := strings.Join(got, ", "); s != "enter at 116 probe 3, exit at 148 probe 3" {
		t.Errorf("the example says %q", s)
	}
}
