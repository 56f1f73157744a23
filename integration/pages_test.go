package integration

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// pageTimeout bounds all commands of one page.
const pageTimeout = 2 * time.Minute

// A fenced block of a page: its language, the file that it is where the fence
// names one, and its text.
var fencedBlock = regexp.MustCompile("(?ms)^```([a-z]+)(?: (\\S+))?\n(.*?)^```$")

// varying is what differs from run to run, and what a sandbox says of itself,
// which depends on the machine's cgroups.
var varying = regexp.MustCompile(`ws-[0-9a-f]{32}|\b\d+ ms\b|"(?:durationMs|cpuMs|peakMemoryBytes)":\d+|\b[0-9.]+ [kMG]?B of memory\b|sha256:[0-9a-f]+|` +
	`\(tier full\): .*|tier full\. .*|"notice":"[^"]*"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// changeID is an id of held or applied changes, another one in each run.
var changeID = regexp.MustCompile(`\b(?:cs-[0-9a-f]{16}-[0-9a-f]{8}|ap-[0-9a-f]{16})\b`)

// TestPages runs what the README and the pages of docs show. A block that is
// fenced as console is a transcript: lines that begin with "$ " are commands,
// what follows is what they print, in which a line "…" stands for any lines. A
// block whose fence names a file is written there when the page comes to it, as by
// who follows the page. An id of changes that a command repeats is the one that was
// printed where the page shows it. Each page has a directory of its own, which looks
// like a checkout after `make build`.
func TestPages(t *testing.T) {
	testenv.Slow(t, "runs what pages show, whole")
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the pages show what the local sandbox prints, on Linux")
	}
	_, err := exec.LookPath("python3")
	testenv.Need(t, "python", err)
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, page := range append(pages, "../README.md") {
		commands := transcript(contentsOf(t, page))
		if len(commands) == 0 {
			continue
		}
		shown += len(commands)
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			followPage(t, page, commands)
		})
	}
	if shown == 0 {
		t.Error("no page shows a command and what it prints")
	}
}

// shownCommand is a command of a page, the text that is shown below it, and the
// files, by their paths, that the page shows before it and after the last command.
type shownCommand struct {
	command, output string
	files           map[string]string
}

// transcript returns the commands of a page in their order.
func transcript(page string) []shownCommand {
	var commands []shownCommand
	files := map[string]string{}
	for _, block := range fencedBlock.FindAllStringSubmatch(page, -1) {
		if block[2] != "" {
			files[block[2]] = block[3]
		}
		if block[1] != "console" {
			continue
		}
		for _, each := range strings.Split("\n"+block[3], "\n$ ")[1:] {
			command, output, _ := strings.Cut(strings.TrimSuffix(each, "\n")+"\n", "\n")
			commands = append(commands, shownCommand{command, output, files})
			files = map[string]string{}
		}
	}
	return commands
}

// followPage runs a page's commands, and compares what they print with what is
// shown, or writes it into the page with -update.
func followPage(t *testing.T, page string, commands []shownCommand) {
	env, dir := append(withoutProject(program.Home(t)), "CLAUDE_PROJECT_DIR="), checkout(t)
	env = append(env, "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	text := contentsOf(t, page)
	requireTier(t, env, dir, commands)
	ids := shownIDs{}
	for _, c := range commands {
		for name, content := range c.files {
			writeFile(t, filepath.Join(dir, name), content)
		}
		got := ids.learn(c.output, runShown(t, env, dir, ids.command(c.command)))
		switch {
		case sameOutput(c.output, got):
		case *update:
			text = strings.Replace(text, "$ "+c.command+"\n"+c.output, "$ "+c.command+"\n"+got, 1)
		default:
			t.Errorf("%s shows another output of\n$ %s\n%s\nthan there is (go test -update writes it):\n%s", page, c.command, c.output, got)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shownIDs are the ids of changes that a page shows, by those that were printed.
type shownIDs map[string]string

// learn takes what a command printed, and returns it with the page's own ids.
func (ids shownIDs) learn(shown, printed string) string {
	old, now := changeID.FindAllString(shown, -1), changeID.FindAllString(printed, -1)
	for i := range min(len(old), len(now)) {
		if ids[now[i]] == "" {
			ids[now[i]] = old[i]
		}
	}
	return changeID.ReplaceAllStringFunc(printed, func(id string) string { return cmp.Or(ids[id], id) })
}

// command returns a command of the page with the ids that were printed.
func (ids shownIDs) command(shown string) string {
	for now, old := range ids {
		shown = strings.ReplaceAll(shown, old, now)
	}
	return shown
}

// checkout returns a directory with bin/skills-mcp and the sample skills.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	samples, err := filepath.Abs("../testdata/skills")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin", "testdata"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"bin/skills-mcp": program.Binary(t), "testdata/skills": samples} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// requireTier skips a page that shows runs, where the local sandbox does not
// have the tier that they are shown in.
func requireTier(t *testing.T, env []string, dir string, commands []shownCommand) {
	t.Helper()
	const tier = "sandbox local (tier full)"
	if !slices.ContainsFunc(commands, func(c shownCommand) bool { return strings.Contains(c.output, tier) }) {
		return
	}
	run := "skills-mcp call --root testdata/skills/valid exec name=skills-system-validation script=scripts/echo.sh"
	if got := runShown(t, env, dir, run); !strings.Contains(got, tier) {
		t.Skipf("the page shows runs in the tier full of the local sandbox; here:\n%s", got)
	}
}

// runShown returns all that a command line prints.
func runShown(t *testing.T, env []string, dir, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), pageTimeout)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", command)
	shell.Env, shell.Dir = env, dir
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	if err := shell.Run(); shell.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("%s: %v\n%s", command, err, out.String())
	}
	return strings.ReplaceAll(out.String(), dir, "/home/you/skills-mcp")
}

// sameOutput reports whether a page shows what a command printed.
func sameOutput(shown, printed string) bool {
	same := func(text string) string { return varying.ReplaceAllString(text, "…") }
	pattern := regexp.QuoteMeta(same(shown))
	pattern = regexp.MustCompile(`(?m)^…\n`).ReplaceAllString(pattern, "(?:.*\n)*?")
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(same(printed))
}

// withoutProject takes out what keeps other tests from having a project.
func withoutProject(env []string) []string {
	return slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, "SKILLS_MCP_PROJECT=") })
}
