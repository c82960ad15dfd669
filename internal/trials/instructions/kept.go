package instructions

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/trials/bench"
)

// tolerance is by how much a setting may cost more than the kept count, in per cent of the plain
// program's instructions.
const tolerance = 1.0

// compare compares counts with the kept ones.
func compare(name string, t bench.Table) error {
	k, err := bench.Read(name)
	if err != nil {
		return err
	}
	i := k.Named(t.Columns[0])
	if i < 0 || !slices.Equal(k.Tables[i].Columns, t.Columns) {
		return fmt.Errorf("%s: found no table with the columns %q", name, t.Columns)
	}
	if v := regexp.MustCompile(`Go (\S+?)[,;]?( |$)`).FindStringSubmatch(k.Machine); v == nil ||
		"go"+v[1] != runtime.Version() {
		fmt.Printf("%s was measured on %s, this is %s: other versions compile other code, so counts may differ\n", name,
			k.Machine, runtime.Version())
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

// risen says which costs are higher than before, and how large the largest difference is, up or
// down.
func risen(before, now bench.Table) (list []string, most float64) {
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
