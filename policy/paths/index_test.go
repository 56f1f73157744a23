package paths_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/policy/paths"
)

// git runs git in a directory with nobody's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := tryGit(dir, args...); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func tryGit(dir string, args ...string) ([]byte, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	return command.CombinedOutput()
}

// repository returns a new one with files, and its index.
func repository(t *testing.T, files map[string]string) (dir, index string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = testfiles.Dir(t, files)
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	return dir, filepath.Join(dir, ".git", "index")
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// seal puts the hash at the end of an index.
func seal(content []byte) []byte {
	body := content[:len(content)-sha1.Size]
	sum := sha1.Sum(body)
	return append(bytes.Clone(body), sum[:]...)
}

// TestIndexOfAHook: git writes what an index names into its own directory, and
// such an index is refused.
func TestIndexOfAHook(t *testing.T) {
	t.Parallel()
	dir, index := repository(t, map[string]string{"agit/hooks/post-checkout": "#!/bin/sh\n", "b": ""})
	evil := seal(bytes.ReplaceAll(read(t, index), []byte("agit/hooks"), []byte(".git/hooks")))
	if err := os.WriteFile(index, evil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := tryGit(dir, "checkout-index", "-a", "-f")
	if _, missing := os.Lstat(filepath.Join(dir, ".git", "hooks", "post-checkout")); missing != nil {
		t.Logf("this git does not fall for it: %v\n%s", err, out)
	}
	if reason, refused := paths.GitIndexFault(evil); !refused || !strings.Contains(reason, "git directory") {
		t.Errorf("it is taken: %q", reason)
	}
}

func TestGitIndexFault(t *testing.T) {
	t.Parallel()
	dir, index := repository(t, map[string]string{
		"a": "", "a-b/c": "x", "deep/er/" + strings.Repeat("x", 200): "", ".gitignore": "", "x.git/config": "", "日本語": "", "git": "",
	})
	if reason, refused := paths.GitIndexFault(read(t, index)); refused {
		t.Errorf("git's own: %s", reason)
	}
	git(t, dir, "add", "-N", "--force", ".") // nothing new
	testfiles.Write(t, filepath.Join(dir, "later"), "")
	git(t, dir, "add", "-N", "later") // has extended flags
	for _, version := range []string{"3", "4", "2"} {
		git(t, dir, "update-index", "--index-version", version)
		content := read(t, index)
		if reason, refused := paths.GitIndexFault(content); refused {
			t.Errorf("version %s: %s", version, reason)
		}
		for cut := range len(content) - 1 {
			if cut > sha1.Size+12 && cut < 200 {
				if _, refused := paths.GitIndexFault(content[:cut]); !refused {
					t.Errorf("version %s, cut at %d, is taken", version, cut)
				}
			}
		}
		for from, to := range map[string]string{"a-b/c": "a/../", "er/xx": "//xxx", "x.git/config": ".git/config/"} {
			if bytes.Contains(content, []byte(from)) {
				if _, refused := paths.GitIndexFault(bytes.ReplaceAll(content, []byte(from), []byte(to))); !refused {
					t.Errorf("version %s with %s is taken", version, to)
				}
			}
		}
	}
	git(t, dir, "update-index", "--split-index")
	if _, refused := paths.GitIndexFault(read(t, index)); !refused {
		t.Error("a split index is taken")
	}
	empty := seal(append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"), make([]byte, sha1.Size)...))
	if reason, refused := paths.GitIndexFault(empty); refused {
		t.Errorf("an empty one: %s", reason)
	}
	for extension, want := range map[string]bool{"TREE\x00\x00\x00\x01x": false, "link\x00\x00\x00\x00": true, "sdir\x00\x00\x00\x00": true, "TREE\x00\x00\x00\x09x": true, "TRE": true} {
		if reason, refused := paths.GitIndexFault(append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"+extension), make([]byte, sha1.Size)...)); refused != want {
			t.Errorf("one with %q: %v, %s", extension, refused, reason)
		}
	}
}

func TestGitIndex(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".git/index": true, "a/.git/modules/x/index": true, ".git/worktrees/w/INDEX": true, "x.git/index": true, "index": false, "src/index": false,
		".git/index/x": false, ".git": false,
	} {
		if got := paths.GitIndex(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestGitIndexChange: what a commit of everything would make of hidden and of
// protected files.
func TestGitIndexChange(t *testing.T) {
	t.Parallel()
	dir, index := repository(t, map[string]string{".npmrc": "", "a": "", "keys/x.key": "", "b": "", ".vscode/tasks.json": "{}"})
	before := read(t, index)
	var r paths.Rules
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { git(t, dir, "rm", "-q", "--cached", "a") }, ""},
		{func() { testfiles.Write(t, filepath.Join(dir, "b"), "other"); git(t, dir, "add", "b") }, ""},
		{func() { git(t, dir, "update-index", "--index-version", "4") }, ""},
		{func() { git(t, dir, "rm", "-q", "--cached", "keys/x.key") }, "keys/x.key"},
		{func() {
			testfiles.Write(t, filepath.Join(dir, ".vscode/tasks.json"), "{1}")
			git(t, dir, "add", ".vscode")
		}, ".vscode/tasks.json"},
		{func() { testfiles.Write(t, filepath.Join(dir, ".husky/x"), ""); git(t, dir, "add", ".husky") }, ".husky/x"},
		{func() { git(t, dir, "update-index", "--chmod=+x", ".husky/x") }, ".husky/x"},
	} {
		step.do()
		reason, refused := r.GitIndexChange(before, read(t, index))
		if refused != (step.want != "") || !strings.Contains(reason, step.want) {
			t.Errorf("%s: %q, %v", step.want, reason, refused)
		}
	}
	executable := read(t, index)
	git(t, dir, "update-index", "--chmod=-x", ".husky/x")
	if reason, refused := r.GitIndexChange(executable, read(t, index)); !refused {
		t.Errorf("another mode: %s", reason)
	}
	if reason, refused := r.GitIndexChange(before, before); refused {
		t.Errorf("the same: %s", reason)
	}
	if _, refused := r.GitIndexChange(before, nil); !refused {
		t.Error("none after is taken")
	}
	if _, refused := r.GitIndexChange(nil, before); !refused {
		t.Error("protected files that none tracked before are taken")
	}
}

// indexOf returns an index with entries of these paths.
func indexOf(names []string) []byte {
	content := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(names)))
	for _, name := range names {
		entry := append(make([]byte, 60, 80+len(name)), byte(min(len(name), 0xfff)>>8), byte(min(len(name), 0xfff)))
		entry = append(entry, name...)
		content = append(content, append(entry, make([]byte, 8-len(entry)%8)...)...)
	}
	return seal(append(content, make([]byte, sha1.Size)...))
}

// FuzzGitIndex: whatever else is in it, an entry in a git directory is found, and
// ordinary entries are taken.
func FuzzGitIndex(f *testing.F) {
	f.Add("a\nb/c\n.git/hooks/x")
	f.Add("a\nb/.GIT/config")
	f.Add(strings.Repeat("x", 5000) + "\ny")
	f.Fuzz(func(t *testing.T, lines string) {
		names := strings.Split(strings.ReplaceAll(lines, "\x00", ""), "\n")
		within, ordinary := false, true
		for _, name := range names {
			within = within || strings.Contains("/"+strings.ToLower(name)+"/", "/.git/")
			ordinary = ordinary && name == path.Clean(name) && regexp.MustCompile("^[a-z/]+$").MatchString(name) && name[0] != '/'
		}
		reason, refused := paths.GitIndexFault(indexOf(names))
		if within && !refused {
			t.Errorf("%q are taken", names)
		}
		if ordinary && refused {
			t.Errorf("%q: %s", names, reason)
		}
		paths.Rules{}.GitIndexChange(indexOf(names), []byte(lines))
		paths.GitIndexFault([]byte(lines))
		paths.GitIndexFault(append([]byte("DIRC\x00\x00\x00\x04"), lines...))
	})
}

// states returns the files below a directory with their contents, and "/" for a
// directory.
func states(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err == nil {
			files[filepath.ToSlash(rel)] = "/"
		}
		if entry.Type().IsRegular() {
			files[filepath.ToSlash(rel)] = "file " + string(read(t, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCommitsCanBeApplied: what git changes in its own directory for commits,
// branches and merges is free, and for what runs code or leads elsewhere is not.
func TestCommitsCanBeApplied(t *testing.T) {
	t.Parallel()
	dir, _ := repository(t, map[string]string{"a": "1\n", "b": "1\n"})
	commit := func(args ...string) []string {
		return append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)
	}
	for _, step := range []struct {
		args []string
		free bool
	}{
		{commit("commit", "-qm", "first"), true},
		{commit("rm", "-q", "b"), true},
		{commit("commit", "-qm", "second"), true},
		{commit("checkout", "-qb", "topic"), true},
		{commit("commit", "-q", "--allow-empty", "-m", "third"), true},
		{commit("tag", "-a", "v1", "-m", "tag"), true},
		{commit("checkout", "-q", "-"), true},
		{commit("merge", "-q", "--no-ff", "topic"), true},
		{commit("branch", "-D", "topic"), true},
		{commit("stash", "push", "-q", "--include-untracked"), true},
		{commit("pack-refs", "--all"), true},
		{commit("revert", "--no-edit", "HEAD~1"), true},
		{commit("config", "core.hooksPath", "x"), false},
		{commit("gc", "-q", "--prune=now"), false}, // removes objects
		{commit("worktree", "add", "-q", "tree"), false},
	} {
		before := states(t, dir)
		git(t, dir, step.args...)
		after := states(t, dir)
		var r paths.Rules
		protected := ""
		for name, content := range after {
			kind := paths.Modified
			switch last, was := before[name]; {
			case was && last == content:
				continue
			case content == "/":
				kind = paths.Directory
			case !was:
				kind = paths.Added
			}
			if reason, p := r.Protected(name, kind); p {
				protected += "\n" + name + " " + reason
			} else if paths.GitIndex(name) {
				if reason, fault := paths.GitIndexFault(read(t, filepath.Join(dir, name))); fault {
					protected += "\n" + name + " " + reason
				}
			}
		}
		for name := range before {
			if _, stays := after[name]; !stays {
				if reason, p := r.Protected(name, paths.Deleted); p && before[name] != "/" {
					protected += "\nwithout " + name + " " + reason
				}
			}
		}
		if (protected == "") != step.free {
			t.Errorf("git %q, protected: %s", step.args, protected)
		}
	}
}
