//go:build amd64 || arm64

package environments_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

// python is what a skill wants of one index.
func python(requirements ...string) environments.Wanted {
	return environments.Wanted{Python: requirements}
}

// unchanged expects that the store holds no environment and nothing unfinished,
// and when it is pruned nothing else either.
func (f *fixture) unchanged(t testing.TB) {
	t.Helper()
	all, err := f.store.List()
	if err != nil || len(all) > 0 {
		t.Errorf("environments %v, %v", all, err)
	}
	if left, _ := filepath.Glob(filepath.Join(f.store.Dir, "unfinished-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := f.store.Prune(time.Hour); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(f.store.Dir, "*", "*")); len(left) > 0 && !slices.Equal(left, []string{filepath.Join(f.store.Dir, "used", "making")}) {
		t.Errorf("left when it is pruned: %v", left)
	}
}

func TestWhatCannotBePrepared(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "many environments that are not made")
	hash := "sha256:" + strings.Repeat("0a", 32)
	for name, test := range map[string]struct {
		index  func(i *index)
		wanted environments.Wanted
		change func(r *environments.Request)
		is     error
		says   string
	}{
		"nothing": {wanted: python(), says: "no packages are wanted"},
		"a package that is not there": {
			wanted: python("absent"), says: "absent was not found",
		},
		"versions that contradict each other": {
			index:  func(i *index) { i.wheel("a", "1", nil, "Requires-Dist: b<1"); i.wheel("b", "1", nil) },
			wanted: python("a", "b>=1"), says: "unsatisfiable",
		},
		"no wheel": {
			index:  func(i *index) { i.sdist("source", "1.0") },
			wanted: python("source"), says: "no usable wheels",
		},
		"another file than the index says": {
			index: func(i *index) {
				i.wheel("a", "1", nil)
				i.hashes["a-1-py3-none-any.whl"] = strings.Repeat("1", 64)
			},
			wanted: python("a"), says: "Hash mismatch",
		},
		"a hash of the skill that no file has": {
			index:  func(i *index) { i.wheel("a", "1", nil) },
			wanted: environments.Wanted{Python: []string{"a==1"}, Hashes: map[string][]string{"a==1": {hash}}}, says: "with a hash that the skill demands",
		},
		"another Python": {
			index:  func(i *index) { i.wheel("a", "1", nil) },
			wanted: environments.Wanted{Python: []string{"a"}, RequiresPython: []string{">=4"}}, says: "asks for Python >=4",
		},
		"an index that refuses": {
			wanted: python("a"), says: "403",
			change: func(r *environments.Request) { r.Indexes.Python = "http://someone:hunter2@index.test/forbidden" },
		},
		"a program that ran where none may": {
			index: func(i *index) {
				i.node("evil", "1.0.0", map[string]any{"dependencies": map[string]string{"x": "git+ssh://git@evil.example/x.git"}}, nil)
			},
			wanted: environments.Wanted{Npm: []string{"evil@*"}}, says: "git",
		},
		"a package of npm that is not there": {wanted: environments.Wanted{Npm: []string{"absent@*"}}, says: "404"},
		"no uv": {
			wanted: python("a"), is: environments.ErrNoUV,
			change: func(r *environments.Request) { r.UV = "" },
		},
		"a uv that is gone": {
			wanted: python("a"), is: environments.ErrNoUV,
			change: func(r *environments.Request) { r.UV = "/nowhere/uv" },
		},
		"a sandbox that holds no hosts": {
			wanted: python("a"), is: environments.ErrNoEgress,
			change: func(r *environments.Request) { r.Backend = closed{r.Backend} },
		},
		"another file of npm than the index says": {
			index: func(i *index) {
				i.node("a", "1.0.0", map[string]any{}, nil)
				i.node("b", "1.0.0", map[string]any{}, nil)
				i.npm["a/-/1.0.0.tgz"] = i.npm["b/-/1.0.0.tgz"]
			},
			wanted: environments.Wanted{Npm: []string{"a@*"}}, says: "EINTEGRITY",
		},
		"an index that is not there": {
			index:  func(i *index) { i.server.Close() },
			wanted: python("a"), says: "502",
		},
		"a registry that is not there": {
			index:  func(i *index) { i.server.Close() },
			wanted: environments.Wanted{Npm: []string{"a@*"}}, says: "502",
		},
		"an index that keeps silent": {
			wanted: python("a"), says: "timed out",
			change: func(r *environments.Request) {
				r.Indexes.Python, r.IndexTimeout = "http://index.test/silent", time.Second
			},
		},
		"a registry that keeps silent": {
			wanted: environments.Wanted{Npm: []string{"a@*"}}, says: "timeout",
			change: func(r *environments.Request) {
				r.Indexes.Npm, r.IndexTimeout = "http://index.test/silent/", time.Second
			},
		},
		"too many bytes": {
			index:  func(i *index) { i.wheel("a", "1", entries{"a.bin": strings.Repeat("x", 3<<20)}) },
			wanted: python("a"), is: environments.ErrTooLarge, says: "more than 2 MiB or 100 files",
		},
		"too many files": {
			index: func(i *index) {
				files := entries{}
				for n := range 120 {
					files[fmt.Sprintf("a/%d.txt", n)] = ""
				}
				i.wheel("a", "1", files)
			},
			wanted: python("a"), is: environments.ErrTooLarge, says: "more than 2 MiB or 100 files",
		},
		"a program in the place of the interpreter": {
			index:  func(i *index) { i.wheel("a", "1", entries{"a-1.data/scripts/python3": "#!/bin/sh\n"}) },
			wanted: python("a"), says: "reserved name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.store.MaxBytes, f.store.MaxFiles = 2<<20, 100
			if test.index != nil {
				test.index(f.index)
			}
			request := f.request(t, test.wanted)
			if test.change != nil {
				test.change(&request)
			}
			_, err := f.store.Prepare(t.Context(), request)
			switch {
			case err == nil:
				t.Fatal("it was prepared")
			case test.is != nil && !errors.Is(err, test.is):
				t.Errorf("%v, want %v", err, test.is)
			case !strings.Contains(err.Error(), test.says):
				t.Errorf("%v, want %q", err, test.says)
			case strings.Contains(err.Error(), "hunter2"):
				t.Errorf("the error says the password: %v", err)
			}
			f.unchanged(t)
			if _, err := os.Stat("/tmp/was-run"); err == nil {
				t.Error("a setup.py was run")
			}
		})
	}
}

// closed is a sandbox without any way to the network.
type closed struct{ sandbox.Backend }

func (c closed) Info() sandbox.Info {
	info := c.Backend.Info()
	info.Egress = false
	return info
}

// What packages hold is seen by runs of the skill that has them, and reaches
// nothing else.
func TestHostilePackages(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making environments")
	f := newFixture(t)
	f.wheel("evil", "1", entries{
		// Run at each start of Python with the environment.
		"evil.pth":         "import os; open(os.path.join(os.environ.get('WORKSPACE', '/tmp'), 'pth-was-run'), 'w')\n",
		"sitecustomize.py": "import os\ntry:\n    open(os.path.join(os.path.dirname(__file__), 'planted'), 'w')\nexcept OSError: pass\n",
		// What other programs are called.
		"evil-1.data/scripts/git":        "#!/bin/sh\necho evil git\n",
		"../../../../escaped.py":         "x = 1\n",
		"evil-1.dist-info/licenses/x.py": "",
		"evil.py":                        "x = 1\n",
		"pip/__main__.py":                "print('evil pip')\n",
	})
	f.wheel("harmless", "1", entries{"harmless.py": "x = 1\n"})
	evil, other := f.prepare(t, python("evil")), f.prepare(t, python("harmless"))

	for name, test := range map[string]struct {
		with        *environments.Environment
		shell, want string
	}{
		"the interpreter stays the machine's": {evil, `python -S -c 'print("python")'; python3 -S -c 'print("python3")'`, "python\npython3"},
		"its own program shadows for itself":  {evil, `git`, "evil git"},
		"and not for others":                  {other, `git 2>&1 || true; echo others`, "others"},
		"nothing is planted at a run":         {evil, `python -c 'import evil' ; [ ! -e "$VIRTUAL_ENV"/lib/python3*/site-packages/planted ] && echo clean`, "clean"},
		"pip is not replaced":                 {evil, `pip install harmless 2>&1 || true; python -m pip install evil`, "Already there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := f.run(t, test.with, test.shell, nil)
			got := string(result.Stdout.Data)
			if !strings.Contains(got, test.want) || strings.Contains(got, "evil python") || name == "and not for others" && strings.Contains(got, "evil") {
				t.Errorf("stdout: %s\nstderr: %s\nwant %q", got, result.Stderr.Data, test.want)
			}
		})
	}
	t.Run("nothing of it ran when it was made", func(t *testing.T) {
		t.Parallel()
		found, err := filepath.Glob(filepath.Join(evil.Show[0], "python", "lib", "python3*", "site-packages", "planted"))
		if err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	})
	t.Run("what it holds is files, directories and links within", func(t *testing.T) {
		t.Parallel()
		checkTree(t, evil.Show[0])
	})
}

// checkTree looks at all that an environment holds.
func checkTree(t *testing.T, dir string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode()
		switch {
		case mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0, mode.Type() != fs.ModeSymlink && mode.Perm()&0o022 != 0, !mode.IsRegular() && !mode.IsDir() && mode.Type() != fs.ModeSymlink:
			t.Errorf("%s has the mode %s", name, mode)
		case mode.Type() == fs.ModeSymlink:
			target, err := filepath.EvalSymlinks(name)
			if isPython := strings.HasPrefix(filepath.Base(name), "python") && filepath.Base(filepath.Dir(name)) == "bin"; err == nil && !isPython && !strings.HasPrefix(target, real) {
				t.Errorf("%s leads to %s", name, target)
			}
		case info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()):
			t.Errorf("%s belongs to another user", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Links and modes that archives of wheels can have, and those of npm.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making environments")
	f := newFixture(t)
	f.wheel("linked", "1", entries{"linked.py": "x = 1\n"})
	f.python["linked-1-py3-none-any.whl"] = withEntry(t, f.python["linked-1-py3-none-any.whl"], "link", "/etc/passwd", fs.ModeSymlink|0o777)
	f.wheel("privileged", "1", entries{"privileged.py": "x = 1\n"})
	f.python["privileged-1-py3-none-any.whl"] = withEntry(t, f.python["privileged-1-py3-none-any.whl"], "tool", "#!/bin/sh\n", fs.ModeSetuid|0o4777)
	f.node("out", "1.0.0", map[string]any{"bin": map[string]string{"../../../out": "cli.js", "in": "cli.js"}}, entries{"cli.js": "", "../../../../escaped.js": ""})
	for _, wanted := range []environments.Wanted{python("linked"), python("privileged"), {Npm: []string{"out@*"}}} {
		made, err := f.store.Prepare(t.Context(), f.request(t, wanted))
		if err != nil {
			continue // which is as well
		}
		checkTree(t, made.Show[0])
		for _, outside := range []string{"escaped.js", "out"} {
			if found, _ := filepath.Glob(filepath.Join(f.store.Dir, outside)); len(found) > 0 {
				t.Errorf("there is %s", found)
			}
		}
	}
}

// withEntry returns a ZIP file with one more entry.
func withEntry(t testing.TB, archive []byte, name, content string, mode fs.FileMode) []byte {
	t.Helper()
	old, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	with := zip.NewWriter(&out)
	for _, file := range old.File {
		if err := with.Copy(file); err != nil {
			t.Fatal(err)
		}
	}
	header := &zip.FileHeader{Name: name}
	header.SetMode(mode)
	file, err := with.CreateHeader(header)
	if err == nil {
		_, err = file.Write([]byte(content))
	}
	if err := errors.Join(err, with.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	request := f.request(t, f.greeting())
	request.Progress = func(line string) {
		if strings.HasPrefix(line, "Checking") {
			return
		}
		if strings.HasPrefix(line, "Install") {
			cancel()
		}
	}
	if _, err := f.store.Prepare(ctx, request); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled in the middle: %v", err)
	}
	f.unchanged(t)
}

// What a killed process leaves is of no use to anybody, and goes when the next
// one makes something.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	wanted := f.greeting()
	made := f.prepare(t, wanted)
	name := strings.TrimPrefix(made.Key, "sha256:")
	// The manifest is written last: without it there is no environment.
	if err := os.Remove(filepath.Join(f.store.Dir, name, "environment.json")); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(f.store.Dir, "unfinished-12345")
	if err := os.MkdirAll(filepath.Join(left, "made", "python"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Find(wanted); !errors.Is(err, environments.ErrNotPrepared) {
		t.Errorf("half of it was found: %v", err)
	}
	f.expect(t, f.prepare(t, wanted), "greet", nil, "hello")
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestFullDisk: where there is no space for what is kept, be it for the program uv,
// for packages, or for more files, nothing of it is.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "environments that are not made")
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a file system that is small")
	}
	program, err := os.Stat(uv(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string]string{
		"for uv": "size=8m", "for packages": fmt.Sprintf("size=%d", program.Size()+3<<20), "for files": "nr_inodes=30",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.wheel("big", "1", entries{"big.bin": strings.Repeat("x", 4<<20)})
			if err := syscall.Mount("tmpfs", mkdir(t, f.store.Dir), "tmpfs", 0, options); err != nil {
				t.Skipf("needs a small file system: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(f.store.Dir, syscall.MNT_DETACH) })
			if _, err := f.store.Prepare(t.Context(), f.request(t, python("big"))); !errors.Is(err, environments.ErrNoSpace) {
				t.Errorf("on a full disk: %v", err)
			}
			f.unchanged(t)
		})
	}
}

func mkdir(t testing.TB, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
