// Package doe has the design of experiments with two levels: plans, of which each says at which
// level every factor is in each run, and what the runs' responses tell of the factors' effects
// (Box, Hunter and Hunter 2005; Snelick, JáJá, Kacker and Lyon 1993). It knows nothing of programs.
package doe
