package program

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Home returns an environment of its own for one server or host, as KEY=value
// lines: nothing of the user who runs the tests is read or written, and
// nothing of theirs but PATH is passed on. Its directories are gone when the
// test is over.
func Home(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + dir,
		"USERPROFILE=" + dir,
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		// The directory that tests are run in is no project of theirs.
		"SKILLS_MCP_PROJECT=off",
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "claude"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"PATH=" + os.Getenv("PATH"),
		"LANG=C.UTF-8",
		"PYTHONDONTWRITEBYTECODE=1",
		"PYTHONIOENCODING=utf-8",
		// A data race ends the server at once, which no test survives.
		"GORACE=halt_on_error=1 atexit_sleep_ms=0",
	}
	if runtime.GOOS == "windows" {
		env = append(env, "SystemRoot="+os.Getenv("SystemRoot"), "PATHEXT="+os.Getenv("PATHEXT"), "TEMP="+filepath.Join(dir, "tmp"))
	}
	return env
}

// Environ turns KEY=value lines into a map; of a key's several lines the last
// counts.
func Environ(env []string) map[string]string {
	fields := make(map[string]string, len(env))
	for _, line := range env {
		key, value, _ := strings.Cut(line, "=")
		fields[key] = value
	}
	return fields
}
