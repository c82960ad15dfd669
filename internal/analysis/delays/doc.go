// Package delays evaluates experiments with delays: by how much a run takes longer if a part of the
// program does, with standard errors, and how that changes with the number of processors (Snelick,
// JáJá, Kacker and Lyon 1993). It runs nothing.
package delays
