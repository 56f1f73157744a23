package diagnosing

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// maxDirectories bounds how many are counted.
const maxDirectories = 1_000_000

// Roots looks at where skills come from.
func (r *Report) Roots(ctx context.Context, s *settings.Settings, roots []catalog.Root, from *catalog.Catalog) {
	snapshot := from.Snapshot()
	skills := make([]int, len(roots))
	for _, skill := range snapshot.Skills() {
		skills[skill.Root]++
	}
	faulty := map[string]bool{}
	wrong := 0
	for _, problem := range snapshot.Problems() {
		switch {
		case strings.HasPrefix(problem.Rule, "root-"):
			state := Error
			if problem.Severity == catalog.Warning {
				state = Warning
			}
			r.add("roots", state, problem.Hint, "%s: %s", problem.File, problem.Message)
			faulty[problem.File] = true
		case problem.Severity == catalog.Error:
			wrong++
		}
	}
	here := 0
	for i, root := range roots {
		if _, err := os.Stat(root.Path); err == nil && !faulty[root.Path] {
			here++
			r.add("roots", OK, "", "%s: %s", root.Path, terminal.Counted(skills[i], "skill"))
		}
	}
	if here == 0 && len(faulty) == 0 {
		r.add("roots", Warning, "make one of the folders that 'skills-mcp --help' names, or name a ROOT", "none of the default folders is there, so there are no skills")
	}
	if wrong > 0 {
		r.add("roots", Warning, "'skills-mcp list' shows them", "skills or tools are left out for %s", terminal.Counted(wrong, "error"))
	}
	r.watches(ctx, s, roots)
}

// watches looks at whether the kernel can tell of all changes.
func (r *Report) watches(ctx context.Context, s *settings.Settings, roots []catalog.Root) {
	if s.Poll > 0 {
		r.add("watches", OK, "", "none: changes are looked for every %v", s.Poll)
		return
	}
	n := 0
	for _, root := range roots {
		n += directories(ctx, root.Path, maxDirectories-n)
	}
	if runtime.GOOS != "linux" {
		r.add("watches", OK, "", "%d directories below the roots", n)
		return
	}
	watches, err := strconv.Atoi(readLine("/proc/sys/fs/inotify/max_user_watches"))
	if err != nil {
		r.add("watches", Warning, "look for changes instead, with --poll=5s", "how many the kernel allows is not known")
		return
	}
	if n > watches/2 { // editors and other hosts want some too
		r.add("watches", Warning, "allow more with sysctl fs.inotify.max_user_watches, or name smaller roots; what cannot be watched is polled",
			"%d directories below the roots, and all programs of yours together may watch %d", n, watches)
		return
	}
	r.add("watches", OK, "", "%d directories below the roots, of %d that may be watched", n, watches)
}

// directories counts those below a path, up to a number.
func directories(ctx context.Context, path string, most int) (n int) {
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		switch {
		case n >= most || ctx.Err() != nil:
			return filepath.SkipAll
		case err != nil:
			return nil // which the scan tells of where it matters
		case entry.IsDir():
			n++
		}
		return nil
	})
	return n
}

func readLine(file string) string {
	data, _ := os.ReadFile(file)
	return strings.TrimSpace(string(data))
}
