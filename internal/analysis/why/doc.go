// Package why judges findings: which changes make a program's run shorter, by how much, and whether
// an experiment with delays agrees with the computed runs that promise it.
//
//	answer, err := why.Judge(study)
//	fmt.Println(answer.First)
//
// A computed run makes the promise. The experiment tests it where both can be seen: the same delays
// in the same runs of the plan, once computed and once measured. Where the two differ nothing is
// promised. The package runs nothing.
package why
