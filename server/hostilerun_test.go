package server_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// callable are the tools of the hostile skills that are not at fault.
var callable = map[string][]string{
	"tools-argv":      {"unknown"}, // its placeholder is a warning, and is left out
	"tools-duplicate": {"same"},    // the first of the two
	"tools-injection": {"print"},
	"tools-traversal": {"good"},
}

// testTools calls every tool that a tools.json names, well or not.
func (h hostileSkills) testTools(t *testing.T) {
	needBash(t)
	files, err := filepath.Glob(filepath.Join(h.root, "tools-*", "tools.json"))
	must(t, err)
	if len(files) < 10 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		skill := filepath.Base(filepath.Dir(file))
		names := toolNames(t, file)
		for _, name := range names {
			a := h.call(t, "exec", map[string]any{"name": skill, "tool": name, "input": map[string]any{"text": "$(id)", "x": 1}})
			ran := a.Structured != nil
			if want := slices.Contains(callable[skill], name); ran != want {
				t.Errorf("tool %q of %s ran: %v, want %v: %.300s", name, skill, ran, want, a.text())
			}
			if !ran && !slices.Contains([]string{"invalid_tools", "tool_not_found", "invalid_arguments"}, a.code()) {
				t.Errorf("tool %q of %s: %s", name, skill, a.text())
			}
		}
		text := h.call(t, "activate", map[string]any{"name": skill}).text()
		for _, name := range callable[skill] {
			if !strings.Contains(text, "\n- "+name+": ") {
				t.Errorf("the activation of %s does not list %s:\n%s", skill, name, text)
			}
		}
		if good := skill == "tools-injection" || skill == "tools-argv"; !good && !strings.Contains(text, "tools.json cannot be used") && !strings.Contains(text, "Left out of its tools.json") && skill != "tools-schema" {
			t.Errorf("the activation of %s is silent on its faults:\n%s", skill, text)
		}
	}
	if run := h.exec(t, "tools-duplicate", map[string]any{"tool": "same", "input": map[string]any{"text": "x"}}); run.Stdout != "<1>\n" {
		t.Errorf("of two tools of one name ran: %+v", run)
	}
}

// toolNames returns the names that stand in a tools.json, however it is
// otherwise, and one that does not.
func toolNames(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	names := []string{"none"}
	for _, found := range regexp.MustCompile(`"name": ("[^"]*")`).FindAllSubmatch(text, -1) {
		var name string
		must(t, json.Unmarshal(found[1], &name))
		names = append(names, name)
	}
	return names
}

// testToolInput: hostile input is one argument, unchanged, and no option.
func (h hostileSkills) testToolInput(t *testing.T) {
	needBash(t)
	runs := map[string]<-chan reply{}
	for _, text := range []string{
		"", " ", "$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "&& touch pwned", "\ntouch pwned\n",
		"{text}", "{x}", "$SKILL_DIR", "~", "*", "'", `"`, `\`, `\n`, "a\tb", "größe 日本語 🏳️‍🌈", "\u202egnp", "%s%n", "../../outside.txt",
	} {
		runs[text] = h.startExec(t, "tools-injection", map[string]any{"tool": "print", "input": map[string]any{"text": text}})
	}
	for text, answer := range runs {
		run := decodeRan(t, h.await(t, answer, text))
		if want := "<" + text + ">\n<before" + text + "after>\n<--text=" + text + ">\n"; run.exit() != 0 || run.Stdout != want || len(run.Artifacts) != 0 {
			t.Errorf("%q came back as %q, with %d artifacts", text, run.Stdout, len(run.Artifacts))
		}
	}
	for text, code := range map[string]string{"a\x00b": "invalid_arguments", "--help": "invalid_arguments", "-rf": "invalid_arguments", strings.Repeat("x", 1<<20): "sandbox_setup"} {
		a := h.call(t, "exec", map[string]any{"name": "tools-injection", "tool": "print", "input": map[string]any{"text": text}})
		if a.code() != code {
			t.Errorf("%.10q: %.200s, want %s", text, a.text(), code)
		}
	}
}

// testScripts: what cannot be started says why, and what can is started.
func (h hostileSkills) testScripts(t *testing.T) {
	needBash(t)
	for script, want := range map[string]string{"plain.sh": "ran without the executable bit\n", "crlf.sh": "CRLF", "empty.sh": ""} {
		run := h.exec(t, "not-executable", map[string]any{"script": "scripts/" + script})
		if script != "crlf.sh" && (run.exit() != 0 || run.Stdout != want) {
			t.Errorf("%s: %+v", script, run)
		}
		if script == "crlf.sh" && !strings.Contains(run.Stdout+run.Stderr, want) && run.exit() == 0 {
			t.Errorf("%s: %+v", script, run)
		}
	}
	for _, script := range []string{"scripts/no-interpreter.sh", "scripts/bytes.bin", "scripts", "scripts/none.sh"} {
		a := h.call(t, "exec", map[string]any{"name": "not-executable", "script": script})
		if a.Structured != nil || !strings.Contains(a.text(), "Next: ") || a.code() == "internal_error" {
			t.Errorf("%s: %s", script, a.text())
		}
	}
	for _, script := range []string{"references/neighbour/scripts/escape.sh", "references/absolute.md", "references/self.md", "references/slash/bin/true", "references/dangling.md"} {
		if a := h.call(t, "exec", map[string]any{"name": "link-out", "script": script}); a.Structured != nil {
			t.Errorf("a link out was run: %s", a.text())
		}
	}
	if run := h.exec(t, "escape-artist", map[string]any{"script": "scripts/escape.sh"}); !strings.Contains(run.Stdout, "read-outside-of-skill") || strings.Contains(run.Stdout, testdata.OutsideMarker) {
		t.Errorf("escape.sh: %+v", run)
	}
}

func needBash(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts of the samples are written for bash")
	}
}

// runawayModes are the modes of runaway.sh, and how each has to end.
var runawayModes = map[string]struct {
	timeoutMs int
	check     func(t *testing.T, run ran)
}{
	"sleep":        {300, ends("timeout", "execution_timeout")},
	"deaf":         {500, ends("timeout", "execution_timeout")},
	"flood":        {0, ends("output_limit", "output_limit")},
	"flood-stderr": {0, ends("output_limit", "output_limit")},
	"orphan":       {0, exits(0)},
	"tree":         {500, ends("timeout", "execution_timeout")},
	"hold":         {0, exits(0)},
	"crash":        {0, ends("signaled", "execution_failed")},
	"exit":         {0, exits(1)},
	"binary": {0, func(t *testing.T, run ran) {
		if !strings.Contains(run.Stdout, "xyz{|}~") || !strings.HasSuffix(run.Stdout, "\uFFFD") {
			t.Errorf("all bytes came as %q", run.Stdout)
		}
	}},
	"many-files": {0, func(t *testing.T, run ran) {
		if len(run.Artifacts) != 100 || run.ArtifactsOmitted != 900 {
			t.Errorf("%d artifacts of 1000, and %d that are not listed", len(run.Artifacts), run.ArtifactsOmitted)
		}
	}},
	"links": {0, func(t *testing.T, run ran) {
		if len(run.Artifacts) != 1 || run.Artifacts[0].Filename != "real.txt" || run.ArtifactsOmitted != 4 {
			t.Errorf("links and a FIFO are artifacts: %+v, and %d not", run.Artifacts, run.ArtifactsOmitted)
		}
	}},
	"big-file": {0, func(t *testing.T, run ran) {
		if len(run.Artifacts) != 1 || run.Artifacts[0].Size != 1<<30 {
			t.Errorf("a file of 1 GiB is %+v", run.Artifacts)
		}
	}},
	// The last, because it fills the workspace that they share.
	"waste": {0, ends("quota_exceeded", "workspace_full")},
}

func ends(status, code string) func(*testing.T, ran) {
	return func(t *testing.T, run ran) {
		if run.Status != status || run.Error.Code != code || run.ExitCode != nil {
			t.Errorf("ended as %+v, want %s and %s", run, status, code)
		}
	}
}

func exits(code int) func(*testing.T, ran) {
	return func(t *testing.T, run ran) {
		if run.Status != "exited" || run.exit() != code {
			t.Errorf("ended as %+v, want exit code %d", run, code)
		}
	}
}

// testRunaway: every way in which runaway.sh misbehaves is ended by a limit,
// and leaves no process and nothing that can be read outside.
func (h hostileSkills) testRunaway(t *testing.T) {
	testenv.Slow(t, "waits for limits in many ways")
	needBash(t)
	for _, program := range []string{"setsid", "timeout", "truncate"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("runaway.sh needs %s: %v", program, err)
		}
	}
	script, err := os.ReadFile(filepath.Join(h.root, "runaway", "scripts", "runaway.sh"))
	must(t, err)
	documented := regexp.MustCompile(`(?m)^#   ([a-z-]+)`).FindAllStringSubmatch(string(script), -1)
	if len(documented) != len(runawayModes) {
		t.Errorf("the script has %d modes, %d are tested", len(documented), len(runawayModes))
	}
	for _, mode := range slices.Sorted(maps.Keys(runawayModes)) {
		t.Run(mode, func(t *testing.T) {
			arguments := map[string]any{"script": "scripts/runaway.sh", "args": []string{mode}}
			if timeout := runawayModes[mode].timeoutMs; timeout > 0 {
				arguments["timeoutMs"] = timeout
			}
			run := h.exec(t, "runaway", arguments)
			runawayModes[mode].check(t, run)
			if left := h.fixture.processesOf(t, "runaway"); len(left) > 0 {
				t.Errorf("processes are left: %q", left)
			}
		})
	}
	h.readLeavings(t)
}

// readLeavings reads what the modes left in the workspace.
func (h hostileSkills) readLeavings(t *testing.T) {
	workspace := h.exec(t, "runaway", map[string]any{"command": "true"}).Workspace
	for file, code := range map[string]string{
		"absolute-link.txt": "path_escape", "relative-link.txt": "path_escape", "loop/real.txt": "", "pipe": "special_file", "big.bin": "too_large",
	} {
		_, fault := h.readURI(t, "workspace://"+workspace+"/"+file)
		if fault == nil || code != "" && fault.Data.Code != code {
			t.Errorf("%s: %+v, want %s", file, fault, code)
		}
	}
	if read, fault := h.readURI(t, "workspace://"+workspace+"/real.txt"); fault != nil || read.Text != "a real artifact\n" {
		t.Errorf("real.txt: %+v, %+v", read, fault)
	}
}

// processesOf returns the processes whose environment names a copy of the skill
// in that directory: what a run started, and what that started.
func (f *fixture) processesOf(t *testing.T, skill string) (found []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil // there is no way to tell
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environments) == 0 {
		t.Fatalf("no processes can be seen: %v", err)
	}
	for _, file := range environments {
		environment, err := os.ReadFile(file)
		_, dir, _ := strings.Cut("\x00"+string(environment), "\x00SKILL_DIR=")
		dir, _, _ = strings.Cut(dir, "\x00")
		if err == nil && strings.HasPrefix(dir, f.copyBase) && filepath.Base(dir) == skill {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// awaitProcesses waits until there are some, or none any more.
func (f *fixture) awaitProcesses(t *testing.T, skill string, wanted bool) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	deadline := time.Now().Add(patience)
	for {
		found := f.processesOf(t, skill)
		if (len(found) > 0) == wanted {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes: %q; some were waited for: %v", found, wanted)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
