package hosted_test

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/internal/anthropic/anthropictest"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/hosted"
)

// open returns a backend of a stand-in for the API.
func open(t testing.TB) sandbox.Backend { return openAt(t, anthropictest.New(t), nil) }

// openBehaving opens the backend at an API with a model that does as it is told
// here, until the test ends.
func openBehaving(t *testing.T, does anthropictest.Model) sandbox.Backend {
	t.Helper()
	api := anthropictest.New(t)
	api.Behave(does)
	backend := openAt(t, api, nil)
	t.Cleanup(func() { backend.Close() })
	return backend
}

// openAt returns a backend of a stand-in for the API, and logs to what is given, if
// anything.
func openAt(t testing.TB, api *anthropictest.Server, log slog.Handler) sandbox.Backend {
	t.Helper()
	for _, program := range []string{"bash", "python3"} {
		_, missing := exec.LookPath(program)
		testenv.Need(t, map[string]string{"python3": "python", "bash": "bash"}[program], missing)
	}
	if log == nil {
		log = slog.NewTextHandler(t.Output(), nil)
	}
	client, err := anthropic.New(anthropic.Options{BaseURL: api.URL, Key: func(context.Context) (string, error) { return anthropictest.Key, nil }})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := hosted.New(hosted.Options{
		API: client, Model: anthropictest.ModelName, Logger: slog.New(log),
		Push: func(ctx context.Context, dir string) (hosted.Skill, error) { return push(ctx, client, dir) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return backend
}

// push uploads a directory, which need be no skill.
func push(ctx context.Context, client *anthropic.Client, dir string) (hosted.Skill, error) {
	files := []anthropic.SkillFile{{Path: "fixture/SKILL.md", Data: []byte("---\nname: fixture\ndescription: A fixture.\n---\n")}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || name == "SKILL.md" {
			return err
		}
		data, err := fs.ReadFile(os.DirFS(dir), name)
		files = append(files, anthropic.SkillFile{Path: path.Join("fixture", name), Data: data})
		return err
	})
	if err != nil {
		return hosted.Skill{}, err
	}
	skill, err := client.CreateSkill(ctx, files)
	return hosted.Skill{ID: skill.ID, Version: skill.LatestVersionID, Name: "fixture"}, err
}
