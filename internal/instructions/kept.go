package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kept is a file of results. What this command does not measure stays as it is.
type kept struct {
	Title        string          `json:"title"`
	Machine      string          `json:"machine"`
	Date         string          `json:"date"`
	Commit       string          `json:"commit"`
	Text         []string        `json:"text,omitempty"`
	Measurements json.RawMessage `json:"measurements,omitempty"`
	Tables       []table         `json:"tables"`
	Remarks      []string        `json:"remarks,omitempty"`
}

func read(name string) (k kept, err error) {
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	return k, err
}

// named returns the index of a table, -1 if the file does not have it.
func (k *kept) named(name string) int {
	return slices.IndexFunc(k.Tables, func(t table) bool { return t.Columns[0] == name })
}

// keep puts tables into a file in the place of the older ones.
func keep(name string, tables []table) error {
	k, err := read(name)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if i := k.named(t.Columns[0]); i >= 0 {
			k.Tables[i] = t
		} else {
			k.Tables = append(k.Tables, t)
		}
	}
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return err
	}
	k.Commit, k.Date = strings.TrimSpace(string(commit)), time.Now().Format(time.DateOnly)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(k); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o666)
}

// tolerance is by how much a setting may cost more than the kept count, in per cent of the plain
// program's instructions.
const tolerance = 1.0

// compare compares counts with the kept ones.
func compare(name string, t table) error {
	k, err := read(name)
	if err != nil {
		return err
	}
	i := k.named(t.Columns[0])
	if i < 0 || !slices.Equal(k.Tables[i].Columns, t.Columns) {
		return fmt.Errorf("%s: found no table with the columns %q", name, t.Columns)
	}
	if v := regexp.MustCompile(`Go (\S+?)[,;]?( |$)`).FindStringSubmatch(k.Machine); v == nil || "go"+v[1] != runtime.Version() {
		fmt.Printf("%s was measured on %s, this is %s: other versions compile other code, so counts may differ\n", name, k.Machine, runtime.Version())
	}
	risen, most := risen(k.Tables[i], t)
	fmt.Printf("the largest difference from %s is %.1f points\n", name, most)
	for _, r := range risen {
		fmt.Println(r)
	}
	if len(risen) > 0 {
		return errors.New("found costs above those kept")
	}
	fmt.Printf("nothing costs more than is kept by more than %g %% of the plain program\n", tolerance)
	return nil
}

// risen says which costs are higher than before, and how large the largest difference is, up or down.
func risen(before, now table) (list []string, most float64) {
	for _, row := range now.Rows {
		i := slices.IndexFunc(before.Rows, func(r []string) bool { return r[0] == row[0] })
		if i < 0 {
			list = append(list, row[0]+": no count is kept of it")
			continue
		}
		for c, column := range now.Columns {
			if !slices.Contains(names(counted), strings.TrimSuffix(column, ", %")) {
				continue
			}
			was, err := strconv.ParseFloat(before.Rows[i][c], 64)
			is, err2 := strconv.ParseFloat(row[c], 64)
			most = max(most, math.Abs(is-was))
			if errors.Join(err, err2) != nil || is > was+tolerance {
				list = append(list, fmt.Sprintf("%s: %s was %s, is %s", row[0], column, before.Rows[i][c], row[c]))
			}
		}
	}
	return list, most
}
