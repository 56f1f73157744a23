package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// A large project, as that of a repository with its dependencies.
const (
	largeDirs  = 5_000
	largeFiles = 50_000
)

// BenchmarkShares measures what a run with a project of 50,000 files in 5,000
// directories costs, of a script that reads some of them and changes one, and
// reports it as ratio to one without a project that does so in its workspace. Both
// are measured in turns, and the medians reported, which other load moves least.
func BenchmarkShares(b *testing.B, open func(testing.TB) sandbox.Backend) {
	backend := open(b)
	defer backend.Close()
	dir, changes := largeProject(b), filepath.Join(b.TempDir(), "changes")
	b.Cleanup(func() { tempdir.Remove(changes) })
	if err := os.Mkdir(changes, 0o700); err != nil {
		b.Fatal(err)
	}
	mask := b.TempDir()
	const program = `grep -q content dir7/file3 && sed -i s/content/changed/ dir9/file4 && sort dir9/file4 | wc -l > "$TMPDIR/lines" && head -c 3 dir9/file4`
	with := sandbox.Spec{
		Shell: program, Workspace: b.TempDir(), Private: b.TempDir(), Project: true, InProject: true,
		Shares: []sandbox.Share{{Path: dir, Layers: []string{mask, dir}, Access: sandbox.AccessReview, Changes: changes}},
	}
	without := with
	without.Shares, without.Project, without.InProject, without.Workspace = nil, false, false, b.TempDir()
	for _, name := range []string{"dir7/file3", "dir9/file4"} {
		file := filepath.Join(without.Workspace, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("content\n"), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	var took [2][]time.Duration
	for b.Loop() {
		for i, spec := range []sandbox.Spec{without, with} {
			start := time.Now()
			result, err := backend.Run(b.Context(), spec)
			took[i] = append(took[i], time.Since(start))
			if err != nil || result.Status != sandbox.Exited || result.ExitCode != 0 || i == 1 && result.Shared[0].Access != sandbox.AccessReview {
				b.Fatalf("a run ended with %+v, %v", result, err)
			}
		}
	}
	median := func(i int) float64 {
		slices.Sort(took[i])
		return float64(took[i][len(took[i])/2].Microseconds())
	}
	b.ReportMetric(median(0), "without-µs")
	b.ReportMetric(median(1), "with-µs")
	b.ReportMetric(median(1)-median(0), "added-µs")
	b.ReportMetric(median(1)/median(0), "ratio")
}

func largeProject(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for d := range largeDirs {
		below := filepath.Join(dir, fmt.Sprint("dir", d))
		if err := os.Mkdir(below, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range largeFiles / largeDirs {
			if err := os.WriteFile(filepath.Join(below, fmt.Sprint("file", f)), []byte("content\n"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	unix.Sync() // what is still to be written of it is no cost of a run
	return dir
}
