package duel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// repaired is in the place of a tool in rows about repairs.
const repaired = "repaired"

// row is the answer of a tool about a program, as it is kept: judged later.
type row struct {
	Program, Tool string
	Gained        map[string]float64 `json:",omitempty"` // by repairs, in percent of the run
	Names         []string           `json:",omitempty"` // the first functions of a profile, by their own time
	Above         []string           `json:",omitempty"` // the same, with all that they call
	Said          []said             `json:",omitempty"` // by qinst
	Error         string             `json:",omitempty"` // there is no answer
	Seconds       float64            `json:",omitempty"`
}

// said is a conclusion or a finding.
type said struct {
	ID, Subject, Text string
	Remark            bool     `json:",omitempty"`
	Gain              *promise `json:",omitempty"`
}

// promise is a gain, in percent of the run.
type promise struct{ Pct, Lo, Hi float64 }

// first is the first answer in words.
func (r *row) first() string {
	switch {
	case r.Error != "":
		return "no answer"
	case len(r.Names) > 0:
		list := slices.Clone(r.Names)
		for _, name := range r.Above {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
		return strings.Join(list, ", ")
	}
	if s := r.answer(); s != nil {
		return strings.TrimSpace(s.ID + " " + s.Subject)
	}
	return "nothing"
}

// answer is what qinst says first: a conclusion, or the remark that less work helps. What it says
// about the helper does not count. It is nil if it says nothing.
func (r *row) answer() (answer *said) {
	for i := range r.Said {
		switch s := &r.Said[i]; {
		case s.Subject == helper:
		case !s.Remark:
			return s
		case answer == nil && slices.Contains(lessWork, s.ID):
			answer = s
		}
	}
	return answer
}

// rows are those in a file, one line each.
type rows struct {
	list []row
	file *os.File
}

// open reads a file, and goes on at its end. A line that was not finished is measured again.
func open(name string) (s *rows, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	d := json.NewDecoder(f)
	s = &rows{file: f}
	good := int64(0)
	for {
		var r row
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.list = append(s.list, r)
		good = d.InputOffset()
	}
	if err := f.Truncate(good); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekEnd)
	return s, err
}

func (s *rows) close() error { return s.file.Close() }

// find returns the row of a tool about a program, nil if there is none.
func (s *rows) find(program, tool string) *row {
	for i := range s.list {
		if r := &s.list[i]; r.Program == program && r.Tool == tool {
			return r
		}
	}
	return nil
}

// add keeps a row.
func (s *rows) add(r row) error {
	s.list = append(s.list, r)
	data, err := json.Marshal(r)
	if err == nil {
		_, err = s.file.Write(append([]byte{'\n'}, data...))
	}
	return err
}
