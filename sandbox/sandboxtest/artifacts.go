package sandboxtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// artifacts are the files that a run leaves.
func artifacts() []contract {
	return []contract{
		{name: "artifacts-new-and-changed", test: testArtifacts},
		{name: "artifacts-special-files", test: testArtifactsSpecial},
		{name: "artifacts-many", test: testArtifactsMany},
		{name: "workspace-hostile", test: testWorkspaceHostile},
	}
}

func artifact(path, content string) sandbox.Artifact {
	return sandbox.Artifact{Path: path, Size: int64(len(content)), Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))}
}

func testArtifacts(t *testing.T, f *fixture) {
	workspace := t.TempDir()
	before := time.Now().Add(-time.Hour)
	for _, name := range []string{"kept", "grown", "rewritten", "replaced", "removed"} {
		file := filepath.Join(workspace, name)
		if err := errors.Join(os.WriteFile(file, []byte("old"), 0o644), os.Chtimes(file, before, before)); err != nil {
			t.Fatal(err)
		}
	}
	result := f.run(t, sandbox.Spec{Workspace: workspace, Shell: `
		echo more >> grown
		printf new > rewritten
		cp -p replaced temporary && mv temporary replaced
		rm removed
		cat kept > /dev/null
		mkdir -p empty a/b && printf 12345 > a/b/nested.txt
		touch 'größe ☃.txt' 'two
lines' .hidden
		echo h > "$HOME/.history"; echo t > "$TMPDIR/t"`})
	expectExit(t, result, 0)
	want := []sandbox.Artifact{
		artifact(".hidden", ""),
		artifact("a/b/nested.txt", "12345"),
		artifact("grown", "oldmore\n"),
		artifact("größe ☃.txt", ""),
		artifact("replaced", "old"),
		artifact("rewritten", "new"),
		artifact("two\nlines", ""),
	}
	if !slices.Equal(result.Artifacts, want) || result.ArtifactsOmitted != 0 {
		t.Errorf("artifacts are %+v, %d omitted, want %+v", result.Artifacts, result.ArtifactsOmitted, want)
	}
	again := f.run(t, sandbox.Spec{Workspace: workspace, Shell: "true"})
	if len(again.Artifacts) != 0 || again.ArtifactsOmitted != 0 {
		t.Errorf("a run that changes nothing has artifacts %+v, %d omitted", again.Artifacts, again.ArtifactsOmitted)
	}
}

func testArtifactsSpecial(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{Shell: `
		echo plain > plain
		ln -s /etc/passwd link-out
		ln -s plain link-in
		ln -s . loop
		mkfifo fifo
		echo twice > hard1 && ln hard1 hard2
		mkdir dir && ln -s ../../../../../.. dir/up`})
	expectExit(t, result, 0)
	if want := []sandbox.Artifact{artifact("plain", "plain\n")}; !slices.Equal(result.Artifacts, want) {
		t.Errorf("artifacts are %+v, want %+v", result.Artifacts, want)
	}
	if result.ArtifactsOmitted != 7 {
		t.Errorf("%d omitted, want 7", result.ArtifactsOmitted)
	}
}

func testArtifactsMany(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{Shell: `i=0; while [ $i -lt 130 ]; do : > "f$((1000+i))"; i=$((i+1)); done`})
	expectExit(t, result, 0)
	if n := len(result.Artifacts); n != sandbox.MaxArtifacts || result.ArtifactsOmitted != 130-sandbox.MaxArtifacts {
		t.Fatalf("%d artifacts, %d omitted", n, result.ArtifactsOmitted)
	}
	if first, last := result.Artifacts[0].Path, result.Artifacts[99].Path; first != "f1000" || last != "f1099" {
		t.Errorf("the artifacts go from %q to %q", first, last)
	}
}

// What a run does to its workspace must not break the next one, nor make the
// backend write elsewhere.
func testWorkspaceHostile(t *testing.T, f *fixture) {
	outside := t.TempDir()
	for _, hostile := range []string{
		`ln -s "` + outside + `" "$WORKSPACE/` + sandbox.PrivateDir + `"`,
		`touch "$WORKSPACE/` + sandbox.PrivateDir + `"`,
		`rm -rf "$HOME" "$TMPDIR"; ln -s "` + outside + `" "$HOME"; mkfifo "$TMPDIR"`,
		`rm -rf "$HOME" "$TMPDIR"; touch "$HOME"`,
		`chmod 0 "$HOME" "$TMPDIR"`,
		`chmod 0 "$(dirname "$HOME")"`,
		`cd "$HOME/../.." && chmod 0 ` + sandbox.SavedDir + ` . || true`, // where it is the server's own
		`chmod 0 "$WORKSPACE"`,
		`chmod 400 "$WORKSPACE" "$(dirname "$HOME")"`,
	} {
		workspace, private := t.TempDir(), t.TempDir()
		made := f.run(t, sandbox.Spec{Workspace: workspace, Private: private, Shell: "echo x > made; " + hostile})
		expectExit(t, made, 0)
		if !slices.Contains(made.Artifacts, artifact("made", "x\n")) {
			t.Errorf("%s: artifacts are %+v", hostile, made.Artifacts)
		}
		f.succeed(t, sandbox.Spec{
			Workspace: workspace, Private: private,
			Shell:  `cat made && echo x > "$HOME/x" && echo x > "$TMPDIR/x" && echo more than ten bytes`,
			Limits: sandbox.Limits{OutputBytes: 10},
		})
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("something was written outside: %v, %v", entries, err)
	}
}
