package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	// nearScriptsListed is how many names a hint shows.
	nearScriptsListed = 5
	// nearScriptsRead is how many directory entries are compared.
	nearScriptsRead = 512
)

func missingScript(root *os.Root, script string, err error) error {
	return &SetupError{
		Rule:    "script-missing",
		Message: fmt.Sprintf("the skill has no readable script %q", script),
		Hint:    nearScripts(root, script),
		Err:     err,
	}
}

// nearScripts names the scripts that may have been meant, nearest first.
func nearScripts(root *os.Root, script string) string {
	names := listScripts(root)
	if len(names) == 0 {
		return "The skill has no scripts/ directory with files: list the skill's files to see what there is."
	}
	distances := make(map[string]int, len(names))
	for _, name := range names {
		distances[name] = min(
			editDistance(name, script),
			editDistance(path.Base(name), path.Base(script)),
		)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	var quoted []string
	for _, name := range names[:min(len(names), nearScriptsListed)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return "Scripts of this skill, nearest name first: " + strings.Join(quoted, ", ") + "."
}

// listScripts gives the paths of the regular files directly in scripts/.
func listScripts(root *os.Root) []string {
	dir, err := root.OpenFile("scripts", os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(nearScriptsRead) // what could be read is good enough for a hint
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, path.Join("scripts", entry.Name()))
		}
	}
	return names
}

// editDistance is the Levenshtein distance of two names, in bytes, of which
// only the first 256 count.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 256)], b[:min(len(b), 256)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
