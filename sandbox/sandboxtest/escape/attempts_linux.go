package escape

import (
	"slices"
)

// Attempts are all of them.
func Attempts() []Attempt {
	return slices.Concat(files(), processes(), networks(), kernels(), resources())
}

func group(name string, attempts []Attempt) []Attempt {
	for i := range attempts {
		attempts[i].Group = name
	}
	return attempts
}
