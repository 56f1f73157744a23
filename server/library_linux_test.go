package server_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/server"
)

// plantLibrary writes skills of which one calls another, and some that no program
// but their own may see.
func plantLibrary(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, frontmatter := range map[string]string{
		"caller": "", "called": "allowed-tools: Read, Bash(scripts/*)", "asked": "",
		"secretive": "allowed-tools: Read(docs/*), Bash", "idle": "allowed-tools: Read", "silent": "allowed-tools: ", "users": "disable-model-invocation: true",
	} {
		document := fmt.Sprintf("---\nname: %s\ndescription: Is one of many.\n%s\n---\n", name, frontmatter)
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte(document))
		writeFile(t, filepath.Join(root, name, "data"), []byte(name+"\n"))
	}
	call := filepath.Join(root, "caller", "scripts", "call.sh")
	writeFile(t, call, []byte("#!/bin/sh\ncat /mnt/skills/called/data && sh /mnt/skills/packed/scripts/say.sh \"$@\"\n"))
	must(t, os.Chmod(call, 0o755))
	must(t, os.Symlink(filepath.Join(root, "idle", "data"), filepath.Join(root, "called", "absolute")))
	must(t, os.Symlink("../idle/data", filepath.Join(root, "called", "relative")))
	writeFile(t, filepath.Join(root, "called", ".env"), []byte("SECRET=1"))
	pack(t, filepath.Join(root, "packed.skill"), map[string]string{
		"packed/SKILL.md":       "---\nname: packed\ndescription: Is in an archive.\n---\n",
		"packed/scripts/say.sh": "echo \"packed says $* in $PWD\"\n",
	})
	return root
}

// mountAll makes a server that shows all skills, in a tier of the local sandbox.
func mountAll(t *testing.T, root string, tier local.Tier, options ...string) *fixture {
	t.Helper()
	return newFixtureOf(t, root, func(opts *server.Options) {
		useLocal(t, opts, tier)
		opts.MountAll = true
		opts.Approval.Skills = map[string]approval.Modes{"asked": {Runs: approval.Ask}}
		opts.Copies.Withheld = func(string) func(string) bool {
			return func(path string) bool { return path == ".env" }
		}
	}, append(options, "toolset=workspace")...)
}

// shown is what bash_tool says of all skills.
type shown struct {
	ran
	Library *struct {
		Path, Reason   string
		Skills         int
		LeftOut        []struct{ Name, Reason string }
		LeftOutOmitted int
	}
}

// bash runs a command.
func (c *client) bash(t *testing.T, arguments map[string]any) (a answer, told shown) {
	t.Helper()
	a = c.call(t, "bash_tool", arguments)
	if a.Structured != nil {
		must(t, json.Unmarshal(a.Structured, &told))
	}
	return a, told
}

func TestMountAll(t *testing.T) {
	t.Parallel()
	c := mountAll(t, plantLibrary(t), local.Full).connect(t)
	a, run := c.bash(t, map[string]any{"command": "/mnt/skills/caller/scripts/call.sh a b && ls /mnt/skills && ls -A /mnt/skills/called"})
	if want := "called\npacked says a b in /workspace\ncalled\ncaller\npacked\nSKILL.md\ndata\n"; run.Stdout != want {
		t.Errorf("the command wrote %q, want %q: %s", run.Stdout, want, a.text())
	}
	var left []string
	for _, each := range run.Library.LeftOut {
		left = append(left, each.Name+" "+each.Reason)
	}
	slices.Sort(left)
	const grants = " does not allow to read all of its files and to run some, by its allowed-tools"
	want := []string{"asked may not be used without asking the user", "idle" + grants, "secretive" + grants, "silent" + grants, "users is for users to begin with"}
	if diff := cmp.Diff(want, left); diff != "" || run.Library.Skills != 3 || run.Library.Path != "/mnt/skills" {
		t.Errorf("%+v (-want +got): %s", run.Library, diff)
	}
	if text := a.text(); !strings.Contains(text, "skills at /mnt/skills: 3; not there: asked (it may not be used") {
		t.Errorf("the text says %s", text)
	}
	for path, want := range map[string]string{
		"/mnt/skills/called/data": "     1\tcalled\n", "/mnt/skills/packed": "Directory .", "/mnt/skills/secretive/data": "permission_denied", "/mnt/skills/called/../idle/data": "invalid_path",
		"/mnt/skills/nobody/data": "skill_not_found", "/mnt/skills": "invalid_path",
	} {
		if a := c.call(t, "view", map[string]any{"path": path}); !strings.HasPrefix(a.text(), want) {
			t.Errorf("view of %s: %s", path, a.text())
		}
	}
	for _, attempt := range []string{"echo x > /mnt/skills/called/data", "chmod 777 /mnt/skills/called/data", "mv /mnt/skills/called /mnt/skills/moved", ": > /mnt/skills/new"} {
		if _, run := c.bash(t, map[string]any{"command": attempt}); run.exit() == 0 {
			t.Errorf("%s succeeds", attempt)
		}
	}
}

// A skill that is not there is not there as a part of another one either, by
// whichever way that was found.
func TestMountAllOfNestedSkills(t *testing.T) {
	t.Parallel()
	root := plantLibrary(t)
	for name, frontmatter := range map[string]string{
		"outer": "", "outer/inner": "", "linked": "", "holder": "", "holder/x/open": "", "holder/x/narrow": "allowed-tools: Read(docs/*), Bash",
	} {
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte(fmt.Sprintf("---\nname: %s\ndescription: Is one of many.\n%s\n---\n", filepath.Base(name), frontmatter)))
	}
	must(t, os.Rename(filepath.Join(root, "users"), filepath.Join(root, "linked", "users")))
	elsewhere := filepath.Join(t.TempDir(), "linked")
	must(t, os.Rename(filepath.Join(root, "linked"), elsewhere))
	must(t, os.Symlink(elsewhere, filepath.Join(root, "linked")))
	c := mountAll(t, root, local.Full).connect(t)
	_, run := c.bash(t, map[string]any{"command": "ls /mnt/skills | tr '\n' ' '; ls /mnt/skills/outer/inner"})
	if want := "called caller inner open outer packed SKILL.md\n"; run.Stdout != want {
		t.Errorf("the command wrote %q, want %q", run.Stdout, want)
	}
	for _, name := range []string{"holder", "linked"} {
		if left := (struct{ Name, Reason string }{name, "holds a skill that is not there"}); !slices.Contains(run.Library.LeftOut, left) {
			t.Errorf("left out are %v", run.Library.LeftOut)
		}
	}
}

// What may be shown is decided by what a skill says, and not by what an index says
// that it says.
func TestMountAllByAnIndex(t *testing.T) {
	t.Parallel()
	root, kept := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(root, "shut", "SKILL.md"), []byte("---\nname: shut\ndescription: Lets nothing read it.\nallowed-tools: Ream, Bash\n---\n"))
	reopen := func() *catalog.Catalog {
		opened, err := catalog.Open(t.Context(), catalog.Options{Roots: []catalog.Root{{Path: root}}, Index: kept})
		must(t, err)
		return opened
	}
	skills := reopen()
	for deadline := time.Now().Add(30 * time.Second); !skills.Snapshot().Skills()[0].Unread(); skills = reopen() {
		must(t, skills.Close())
		if time.Now().After(deadline) {
			t.Skip("no index is kept of this file system")
		}
		time.Sleep(50 * time.Millisecond) // until the file is old enough to be believed
	}
	must(t, skills.Close())
	files, err := filepath.Glob(filepath.Join(kept, "*"))
	must(t, err)
	index, err := os.ReadFile(files[0])
	must(t, err)
	const sum = len("skills-mcp index 1\n")
	index = bytes.Replace(index, []byte("\x0aReam"), []byte("\x0aRead"), 1)
	binary.LittleEndian.PutUint32(index[sum:], crc32.ChecksumIEEE(index[sum+4:]))
	must(t, os.WriteFile(files[0], index, 0o600))
	skills = reopen()
	t.Cleanup(func() { _ = skills.Close() })
	if forged := skills.Snapshot().Skills()[0]; !forged.Unread() || !strings.HasPrefix(forged.AllowedTools[0], "Read") {
		t.Fatalf("the index was not used: %+v", forged)
	}
	c := newFixtureOf(t, root, func(opts *server.Options) {
		useLocal(t, opts, local.Full)
		opts.Catalog, opts.MountAll = skills, true
	}, "toolset=workspace").connect(t)
	if _, run := c.bash(t, map[string]any{"command": "ls /mnt/skills"}); run.Stdout != "" || run.Library.Skills != 0 {
		t.Errorf("%+v", run)
	}
}

// A program of a skill sees its own skill and no other.
func TestMountAllIsForNoSkill(t *testing.T) {
	t.Parallel()
	c := mountAll(t, plantLibrary(t), local.Full).connect(t)
	c.bash(t, map[string]any{"command": "true"}) // so that there is a library
	look := map[string]any{"command": "ls /mnt/skills; cat $SKILL_DIR/data", "name": "caller"}
	if _, run := c.bash(t, look); run.Stdout != "caller\n" || run.Library != nil {
		t.Errorf("a command of a skill: %+v", run)
	}
	if run := c.exec(t, "caller", map[string]any{"command": "ls /mnt/skills; true"}); run.Stdout != "" {
		t.Errorf("exec: %+v", run)
	}
	plain := newFixtureOf(t, plantLibrary(t), func(opts *server.Options) { useLocal(t, opts, local.Full) }, "toolset=workspace").connect(t)
	if _, run := plain.bash(t, map[string]any{"command": "ls /mnt/skills; true"}); run.Stdout != "" || run.Library != nil {
		t.Errorf("without being asked for: %+v", run)
	}
}

// A run sees what was published when it began, to its end.
func TestMountAllWhileSkillsChange(t *testing.T) {
	t.Parallel()
	root := plantLibrary(t)
	c := mountAll(t, root, local.Full).connect(t)
	const read = "cat /mnt/skills/called/data /mnt/skills/renamed/data 2> /dev/null; ls /mnt/skills/caller > /dev/null && echo there"
	_, first := c.bash(t, map[string]any{"command": read})
	if first.Stdout != "called\nthere\n" {
		t.Fatalf("%+v", first)
	}
	waiting := c.start(t, "tools/call", map[string]any{"name": "bash_tool", "arguments": map[string]any{
		"command": "touch begun; until [ -e go ]; do sleep 0.01; done; " + read, "workspace": first.Workspace,
	}})
	for { // until the first has begun
		if _, run := c.bash(t, map[string]any{"command": "[ -e begun ]", "workspace": first.Workspace}); run.exit() == 0 {
			break
		}
	}
	writeFile(t, filepath.Join(root, "called", "data"), []byte("changed\n"))
	must(t, os.RemoveAll(filepath.Join(root, "caller")))
	writeFile(t, filepath.Join(root, "renamed", "SKILL.md"), []byte("---\nname: renamed\ndescription: Is new.\n---\n"))
	writeFile(t, filepath.Join(root, "renamed", "data"), []byte("renamed\n"))
	writeFile(t, filepath.Join(root, "called", "SKILL.md"), []byte("---\nname: called\ndescription: Says more now.\n---\n"))
	_, during := c.bash(t, map[string]any{"command": read})
	if during.Stdout != "changed\n" {
		t.Errorf("what changed since the scan: %+v", during)
	}
	if _, err := c.fixture.catalog.Rescan(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, after := c.bash(t, map[string]any{"command": read + "; touch go", "workspace": first.Workspace})
	if after.Stdout != "changed\nrenamed\n" {
		t.Errorf("after the scan: %+v", after)
	}
	if run := decodeRan(t, c.await(t, waiting, "bash_tool")); run.Stdout != "called\nthere\n" {
		t.Errorf("a run that had begun before: %+v", run)
	}
}

// Where the sandbox cannot show skills, runs are without, and say so.
func TestMountAllThatCannotBe(t *testing.T) {
	t.Parallel()
	c := mountAll(t, plantLibrary(t), local.Restricted).connect(t)
	a, run := c.bash(t, map[string]any{"command": "echo ran"})
	const reason = "The sandbox local (tier restricted) cannot show skills at /mnt/skills."
	if run.Stdout != "ran\n" || run.Library == nil || run.Library.Reason != reason || run.Library.Path != "" || !strings.Contains(a.text(), "no skills were shown: "+reason) {
		t.Errorf("%+v", run)
	}
}

// However many skills are left out, a result names few.
func TestMountAllNamesFew(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range 30 {
		name := fmt.Sprintf("idle-%02d", i)
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Runs nothing.\nallowed-tools: Read\n---\n"))
	}
	_, run := mountAll(t, root, local.Full).connect(t).bash(t, map[string]any{"command": "ls -A /mnt/skills"})
	if run.exit() != 0 || run.Stdout != "" || len(run.Library.LeftOut) != 10 || run.Library.LeftOutOmitted != 20 {
		t.Errorf("%+v", run)
	}
}
