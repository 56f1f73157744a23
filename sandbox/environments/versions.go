package environments

import (
	"slices"
	"strconv"
	"strings"
)

// satisfies reports whether a version of Python is one that requires-python
// asks for. What it does not understand it takes for satisfied: uv looks at
// packages itself.
func satisfies(version, required string) bool {
	have := release(version)
	for clause := range strings.SplitSeq(required, ",") {
		clause = strings.TrimSpace(clause)
		bare := strings.TrimLeft(clause, "<>=!~")
		operator, wanted := clause[:len(clause)-len(bare)], strings.TrimSpace(bare)
		prefix, any := strings.CutSuffix(wanted, ".*")
		want := release(prefix)
		if len(want) == 0 {
			continue
		}
		order := slices.Compare(padded(have, want), padded(want, have))
		if any {
			order = slices.Compare(have[:min(len(have), len(want))], want)
		}
		if !holds(operator, order, have, want) {
			return false
		}
	}
	return true
}

// holds reports whether an operator allows a version that is before, at or
// after the one that is wanted.
func holds(operator string, order int, have, want []int) bool {
	switch operator {
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	case "!=":
		return order != 0
	case "==", "===":
		return order == 0
	case "~=":
		return order >= 0 && slices.Equal(have[:min(len(have), len(want)-1)], want[:len(want)-1])
	}
	return true
}

// release returns the numbers of a version.
func release(version string) (numbers []int) {
	for part := range strings.SplitSeq(version, ".") {
		digits := strings.TrimRight(part, "+abcdefghijklmnopqrstuvwxyz")
		number, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		if numbers = append(numbers, number); digits != part {
			break
		}
	}
	return numbers
}

// padded returns numbers with zeros to the length of others.
func padded(numbers, others []int) []int {
	return append(slices.Clone(numbers), make([]int, max(0, len(others)-len(numbers)))...)
}
