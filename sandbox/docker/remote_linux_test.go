package docker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

// expectRuns runs programs on an engine elsewhere, some of them in containers
// that were started ahead, and expects nothing to be left of it.
func expectRuns(t *testing.T, host string) {
	t.Helper()
	backend := openWith(t, docker.Options{Host: host})
	t.Setenv("DOCKER_TLS_VERIFY", "") // which the docker command would use too
	skill, workspace := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(skill, "word"), []byte("there "), 0o644); err != nil {
		t.Fatal(err)
	}
	for want := ""; len(want) < len("there there there "); {
		want += "there "
		run(t, backend, sandbox.Spec{Shell: `cat "$SKILL_DIR/word" >> back`, SkillDir: skill, Workspace: workspace})
		if back, err := os.ReadFile(filepath.Join(workspace, "back")); err != nil || string(back) != want {
			t.Errorf("back comes %q, %v, want %q", back, err, want)
		}
		backend.AwaitWarm()
	}
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
	expectGone(t, backend.Session(), 0)
}

func TestRunsOverSSH(t *testing.T) {
	expectRuns(t, enginetest.ServeSSH(t).Host)
}

func TestRunsOverTLS(t *testing.T) {
	host, certificates := enginetest.ServeTLS(t)
	t.Setenv("DOCKER_CERT_PATH", certificates)
	t.Setenv("DOCKER_TLS_VERIFY", "1")
	expectRuns(t, host)
}
