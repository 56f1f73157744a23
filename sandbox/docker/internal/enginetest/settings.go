package enginetest

import (
	"os"
	"testing"
	"testing/fstest"
)

// OtherContext is the hex of the SHA-256 of "other", as Docker's command names
// the directory of the context.
const OtherContext = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"

// Settings makes settings of Docker's command, by file name, the only ones.
func Settings(t testing.TB, files map[string]string) {
	t.Helper()
	dir, tree := t.TempDir(), make(fstest.MapFS)
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("DOCKER_CERT_PATH", "")
	t.Setenv("DOCKER_TLS_VERIFY", "")
}
