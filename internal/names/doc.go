// Package names says what the parts of a program are called, so that a procedure has the same name
// in every table and in every flag.
//
//	names.Of("gopkg.in/yaml%2ev3.F[go.shape.int]") // gopkg.in/yaml.v3.F[...]
package names
