// Package doe designs experiments with factors at two levels, and evaluates them: a plan has the
// level of every factor in each run, and the responses of the runs give the effects of the factors
// (Box, Hunter and Hunter 2005; Snelick, JáJá, Kacker and Lyon 1993). It knows nothing of programs.
package doe
