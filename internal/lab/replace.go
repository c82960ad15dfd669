package lab

import "os"

// Replace writes a file, which takes the place of an earlier one at once: an end in between loses
// nothing.
func Replace(file string, content []byte) error {
	tmp := file + ".tmp"
	if err := os.WriteFile(tmp, content, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}
