package view

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/predict"
)

// mostProcs is how many processors may be asked for.
const mostProcs = 256

// whatIf answers with the gain of a change on the recorded number of processors, or with the run on
// another one.
func (s *Server) whatIf(q url.Values) (any, error) {
	v := s.view
	v.items() // which asks the same predictor
	v.asking.Lock()
	defer v.asking.Unlock()
	if v.facts.Gains == nil {
		return nil, errors.New("gains cannot be computed: this trace lacks events, or is too long")
	}
	if q.Has("procs") {
		list := []predict.Of{}
		for text := range strings.SplitSeq(q.Get("procs"), ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > mostProcs {
				return nil, fmt.Errorf("found procs=%s, expected numbers from 1 to %d", q.Get("procs"), mostProcs)
			}
			list = append(list, v.facts.Gains.OnProcs(n))
		}
		return list, nil
	}
	return v.facts.Gains.Gain(q.Get("change"))
}
