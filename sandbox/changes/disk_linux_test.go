package changes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// traced returns what an apply asks of the disk, in its order: lines of strace
// with the paths of what is open, in which P is the project and S the state.
func (f *fixture) traced(id string) (calls []string) {
	f.t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		f.t.Skip(err)
	}
	out := filepath.Join(f.t.TempDir(), "trace")
	process := f.another(id, "")
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	traced := exec.Command(strace, "-f", "-y", "-qq", "-s", "300", "-o", out, "-e", "trace=fsync,fdatasync,renameat,renameat2,unlinkat,write", self)
	traced.Env = process.Env
	if text, err := traced.CombinedOutput(); err != nil {
		f.t.Skipf("strace: %v %s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		f.t.Fatal(err)
	}
	short := strings.NewReplacer(f.project, "P", f.state, "S")
	for line := range strings.Lines(string(data)) {
		_, call, _ := strings.Cut(strings.TrimSpace(line), " ") // the thread
		calls = append(calls, short.Replace(strings.TrimSpace(call)))
	}
	return calls
}

// An apply leaves no moment at which a machine that stops loses a file of the
// user's: what is there is kept on the disk, and the journal says so there, before
// it goes; what takes its place is on the disk before it has the name; and the
// names are, before the journal ends and what was held is removed.
func TestApplyAsksTheDisk(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"a": "old a", "gone": "old gone"})
	f.run(func(u upper) { u.write("a", "new a"); u.whiteout("gone"); u.write("more", "new more") })
	calls := f.traced(f.held().ID)
	// find returns where the next call of a kind is.
	find := func(from int, pattern string) int {
		t.Helper()
		expression := regexp.MustCompile(pattern)
		i := slices.IndexFunc(calls[from:], expression.MatchString)
		if i < 0 {
			t.Fatalf("behind call %d there is no %s in\n%s", from, pattern, strings.Join(calls, "\n"))
		}
		return from + i
	}
	const (
		journal = `^fsync\(\d+<S/applied/[^>]*\.journal>`
		kept    = `^fsync\(\d+<S/applied/[^>]*/kept/\d+>`
		names   = `^fsync\(\d+<P>`
	)
	for name, test := range map[string]struct {
		changes  string   // the call that gives or takes the name
		sequence []string // before it
	}{
		"a":    {`^renameat2\([^,]*<P>, "\.skills-mcp-[^"]*", [^,]*<P>, "a", RENAME_EXCHANGE`, []string{kept, journal, `^fsync\(\d+<P/\.skills-mcp-`}},
		"more": {`^renameat2\([^,]*<P>, "\.skills-mcp-[^"]*", [^,]*<P>, "more", RENAME_NOREPLACE`, []string{journal, `^fsync\(\d+<P/\.skills-mcp-`}},
		"gone": {`^renameat2\([^,]*<P>, "gone", [^,]*<P>, "\.skills-mcp-`, []string{kept, journal}},
	} {
		step := find(0, `^write\(\d+<S/applied/[^>]*\.journal>, .*\\"path\\":\\"`+name+`\\"`)
		changed := find(step, test.changes)
		for _, wanted := range test.sequence {
			from := step
			if wanted == kept { // which comes before the step is written, and behind the one before
				from = 0
				for i, call := range calls[:step] {
					if strings.Contains(call, `\"step\"`) {
						from = i
					}
				}
			}
			if at := find(from, wanted); at > changed || wanted == kept && at > step {
				t.Errorf("%s changes before %s", name, wanted)
			}
		}
		synced := find(changed, names)
		end := find(changed, `^write\(\d+<S/applied/[^>]*\.journal>, .*\\"end\\"`)
		if synced > end {
			t.Errorf("the journal ends before the name of %s is on the disk", name)
		}
		held := find(0, `^(unlinkat|renameat2?)\(\d+<S/sets/[^>]*/upper>, "`+name+`"`)
		if held < synced {
			t.Errorf("what is held of %s is removed before its name is on the disk", name)
		}
	}
}
