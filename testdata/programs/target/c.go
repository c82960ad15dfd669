//go:build withc

package main

// #include <unistd.h>
import "C"

func init() {
	setUserInC = func(user int) error {
		_, err := C.setuid(C.uid_t(user))
		return err
	}
}
