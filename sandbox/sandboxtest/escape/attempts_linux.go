package escape

import (
	"slices"
)

// allAttempts are those of programs, without what a project or a grant adds.
func allAttempts() []Attempt {
	return slices.Concat(files(), processes(), networks(), kernels(), resources())
}

func group(name string, attempts []Attempt) []Attempt {
	for i := range attempts {
		attempts[i].Group = name
	}
	return attempts
}
