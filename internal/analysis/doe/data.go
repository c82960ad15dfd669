package doe

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Data are runs with their responses.
type Data struct {
	Factors  []string
	Response string // what the response is called
	Runs     []Observed
}

// Observed is a run that was made.
type Observed struct {
	Run
	Response float64
}

// WriteCSV writes a plan as a table: run, block, and each factor at -1, 0 or 1.
func (p *Plan) WriteCSV(to io.Writer) error {
	w := csv.NewWriter(to)
	_ = w.Write(append([]string{"run", "block"}, p.Factors...)) // errors are those of Flush
	for i, r := range p.Runs {
		row := []string{strconv.Itoa(i + 1), strconv.Itoa(r.Block)}
		for _, x := range r.Levels {
			row = append(row, strconv.Itoa(int(x)))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// mostRows is the limit of a table.
const mostRows = 1 << 20

// ReadCSV reads a plan with one more column, the response of each run. The columns run and
// block may be missing.
func ReadCSV(from io.Reader) (*Data, error) {
	r := csv.NewReader(from)
	r.Comment = '#'
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("found nothing, expected a table with a line of names")
	} else if err != nil {
		return nil, err
	}
	d, isRun, isBlock := &Data{}, -1, -1
	for i, name := range head {
		switch name = strings.TrimSpace(name); {
		case i == len(head)-1:
			d.Response = name
		case strings.EqualFold(name, "run") && isRun < 0:
			isRun = i
		case strings.EqualFold(name, "block") && isBlock < 0:
			isBlock = i
		default:
			d.Factors = append(d.Factors, name)
		}
	}
	if err := check(d.Factors, Options{Resolution: 3}); err != nil {
		return nil, fmt.Errorf("line 1: %w before the last column, which is the response", err)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		if len(row) != len(head) {
			return nil, fmt.Errorf("line %d: found %d cells, expected %d as in the first line", line, len(row),
				len(head))
		}
		if len(d.Runs) == mostRows {
			return nil, fmt.Errorf("line %d: found more than %d runs", line, mostRows)
		}
		o := Observed{Run: Run{Block: 1}}
		for i, cell := range row {
			cell, name := strings.TrimSpace(cell), strings.TrimSpace(head[i])
			switch {
			case i == len(row)-1:
				o.Response, err = strconv.ParseFloat(cell, 64)
				if err != nil || math.IsNaN(o.Response) || math.IsInf(o.Response, 0) {
					return nil, fmt.Errorf("line %d: found the response %q, expected a number", line, cell)
				}
			case i == isRun:
			case i == isBlock:
				if o.Block, err = strconv.Atoi(cell); err != nil || o.Block < 1 {
					return nil, fmt.Errorf("line %d: found the block %q, expected a number from 1 on", line, cell)
				}
			default:
				x, ok := level(cell)
				if !ok {
					return nil, fmt.Errorf("line %d: found %q for %s, expected -1, 0 or 1", line, cell, name)
				}
				o.Levels = append(o.Levels, x)
			}
		}
		d.Runs = append(d.Runs, o)
	}
	return d, nil
}

// level reads a level, which may also be written as a sign alone.
func level(cell string) (int8, bool) {
	switch cell {
	case "-":
		return -1, true
	case "+":
		return 1, true
	}
	x, err := strconv.ParseFloat(cell, 64)
	return int8(x), err == nil && (x == -1 || x == 0 || x == 1)
}
