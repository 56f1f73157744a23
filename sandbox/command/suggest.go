package command

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/editdistance"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

const (
	// maxSuggested is how many names a hint shows.
	maxSuggested = 5
	// maxCompared is how many directory entries are compared.
	maxCompared = 512
)

func missingScript(root *os.Root, script string, err error) error {
	return &sandbox.SetupError{
		Rule:    "script-missing",
		Message: fmt.Sprintf("the skill has no readable script %q", script),
		Hint:    suggest(root, script),
		Err:     err,
	}
}

// suggest names the scripts that may have been meant, nearest first.
func suggest(root *os.Root, script string) string {
	names := listScripts(root)
	if len(names) == 0 {
		return "The skill has no scripts/ directory with files: list the skill's files to see what there is."
	}
	distances := make(map[string]int, len(names))
	for _, name := range names {
		distances[name] = min(
			editdistance.Between(name, script),
			editdistance.Between(path.Base(name), path.Base(script)),
		)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	var quoted []string
	for _, name := range names[:min(len(names), maxSuggested)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return "Scripts of this skill, nearest name first: " + strings.Join(quoted, ", ") + "."
}

// listScripts returns the paths of the regular files directly in scripts/.
func listScripts(root *os.Root) []string {
	dir, err := root.OpenFile("scripts", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxCompared) // what could be read is good enough for a hint
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, path.Join("scripts", entry.Name()))
		}
	}
	return names
}
