package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
)

const swapSkill = "---\nname: swap\ndescription: Is swapped.\n---\nRun scripts/run.sh.\n"

// between is a backend in which something happens after the server's check of
// a run and before the run.
type between struct {
	sandbox.Backend
	happens func()
}

func (b between) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	b.happens()
	return b.Backend.Run(ctx, spec)
}

// swaps are ways to put another script in the place of one, in a skill's
// directory. What is in aside is at hand.
var swaps = map[string]func(dir, aside string) error{
	"by rename": func(dir, aside string) error {
		return os.Rename(filepath.Join(aside, "scripts", "run.sh"), filepath.Join(dir, "scripts", "run.sh"))
	},
	"in place, of the same size and time": func(dir, aside string) error {
		script := filepath.Join(dir, "scripts", "run.sh")
		info, err := os.Stat(script)
		if err != nil {
			return err
		}
		evil, err := os.ReadFile(filepath.Join(aside, "scripts", "run.sh"))
		return errors.Join(err, os.WriteFile(script, evil, 0o644), os.Chtimes(script, info.ModTime(), info.ModTime()))
	},
	"by the directory": func(dir, aside string) error {
		return errors.Join(os.Rename(dir, dir+".old"), os.Rename(aside, dir))
	},
	"by the scripts' directory": func(dir, aside string) error {
		scripts := filepath.Join(dir, "scripts")
		return errors.Join(os.Rename(scripts, scripts+".old"), os.Rename(filepath.Join(aside, "scripts"), scripts))
	},
	"by a link": func(dir, aside string) error {
		script := filepath.Join(dir, "scripts", "run.sh")
		return errors.Join(os.WriteFile(filepath.Join(dir, "evil.sh"), []byte("echo EVIL\n"), 0o644),
			os.Remove(script), os.Symlink("../evil.sh", script))
	},
}

// plantSwap makes a skill, and beside it what is to take its place.
func plantSwap(t *testing.T) (root, dir, aside string) {
	root, aside = t.TempDir(), t.TempDir()
	dir, aside = filepath.Join(root, "swap"), filepath.Join(aside, "swap")
	for base, line := range map[string]string{dir: "echo good\n", aside: "echo EVIL\n"} {
		writeFile(t, filepath.Join(base, "SKILL.md"), []byte(swapSkill))
		writeFile(t, filepath.Join(base, "scripts", "run.sh"), []byte(line))
	}
	return root, dir, aside
}

// TestSwapBeforeTheRun: whoever swaps a script between the check and the run
// has the old one run. Each swap is shown to work where a program is started
// in the skill's own directory.
func TestSwapBeforeTheRun(t *testing.T) {
	t.Parallel()
	needBash(t)
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			t.Run("in the skill's own directory", func(t *testing.T) {
				_, dir, aside := plantSwap(t)
				plain, err := host.New(host.Options{})
				must(t, err)
				defer plain.Close()
				backend := between{plain, func() { must(t, swap(dir, aside)) }}
				result, err := backend.Run(t.Context(), sandbox.Spec{Script: "scripts/run.sh", SkillDir: dir, Workspace: t.TempDir()})
				if err != nil || string(result.Stdout.Data) != "EVIL\n" {
					t.Fatalf("the attack fails where nothing stops it: %q, %v", result.Stdout.Data, err)
				}
			})
			t.Run("in its copy", func(t *testing.T) {
				root, dir, aside := plantSwap(t)
				armed := true
				f := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
					return between{plain, func() {
						if armed {
							must(t, swap(dir, aside))
						}
						armed = false
					}}
				})
				c := f.connect(t)
				before := c.exec(t, "swap", script("scripts/run.sh"))
				if before.exit() != 0 || before.Stdout != "good\n" {
					t.Errorf("the attack succeeds: %+v", before)
				}
				after := c.exec(t, "swap", script("scripts/run.sh"))
				if after.Stdout != "EVIL\n" || after.SkillDigest == before.SkillDigest {
					t.Errorf("the next run does not see the save: %+v", after)
				}
			})
		})
	}
}

// TestSwapOfWhatWasDecidedOn: the frontmatter, or the tools.json, is swapped
// between the decision and the copy. What runs is what the copy allows.
func TestSwapOfWhatWasDecidedOn(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	document := func(allowed string) []byte {
		return []byte("---\nname: swap\ndescription: Is swapped.\nallowed-tools: " + allowed + "\n---\n")
	}
	versions := []map[string][]byte{
		{
			"SKILL.md": document("Bash(scripts/run.sh:*) show"), "scripts/run.sh": []byte("echo listed\n"),
			"tools.json": []byte(`{"tools": [{"name": "show", "description": "Shows.", "argv": ["scripts/run.sh"]}]}`),
		},
		{
			"SKILL.md": document("Read"), "scripts/run.sh": []byte("echo UNLISTED\n"),
			"tools.json": []byte(`{"tools": [{"name": "show", "description": "Shows.", "argv": ["scripts/run.sh"]}, {"name": "other", "description": "Shows.", "argv": ["echo", "UNLISTED"]}]}`),
		},
	}
	// A directory that is exchanged whole is one version at any time.
	dirs := make([]string, len(versions))
	for i, files := range versions {
		dirs[i] = filepath.Join(t.TempDir(), "swap")
		for name, content := range files {
			writeFile(t, filepath.Join(dirs[i], name), content)
		}
	}
	live := filepath.Join(root, "swap")
	must(t, os.Symlink(dirs[0], live))
	f := newFixture(t, root)
	exchange(t, live, dirs)
	c := f.connect(t)
	for i := range 60 {
		arguments := map[string]any{"name": "swap", "script": "scripts/run.sh"}
		if i%2 == 1 {
			arguments = map[string]any{"name": "swap", "tool": "show", "input": map[string]any{}}
		}
		a := c.call(t, "exec", arguments)
		if strings.Contains(a.text(), "UNLISTED") {
			t.Errorf("what is not listed ran: %s", a.text())
		}
		if a.Structured == nil && a.code() != "permission_denied" && a.code() != "sandbox_setup" && a.code() != "skill_not_found" {
			t.Errorf("refused otherwise: %s", a.text())
		}
	}
}

// exchange lets a link lead to one directory after the other until the test
// ends.
func exchange(t *testing.T, link string, dirs []string) {
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			if err := errors.Join(os.Symlink(dirs[i%len(dirs)], link+".new"), os.Rename(link+".new", link)); err != nil {
				ended <- err
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		must(t, <-ended)
	})
}

// BenchmarkExec is what an exec costs of a skill that did not change.
func BenchmarkExec(b *testing.B) {
	root := b.TempDir()
	for i := range 20 {
		name := filepath.Join(root, "swap", fmt.Sprint(i), "file")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, make([]byte, 20_000), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "swap", "SKILL.md"), []byte(swapSkill), 0o644); err != nil {
		b.Fatal(err)
	}
	f := newFixture(b, root)
	exec := func() {
		called, err := f.server.Call(b.Context(), "exec", json.RawMessage(`{"name":"swap","command":"true"}`))
		if err != nil || called.IsError {
			b.Fatal(called.Text, err)
		}
	}
	for settled := time.Now().Add(3 * time.Second); time.Now().Before(settled); {
		exec() // of files that were written just now every one is read
	}
	for b.Loop() {
		exec()
	}
}
