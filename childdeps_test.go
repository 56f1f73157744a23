package skillsmcp_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestChildrenInitializeLittle: what jails or supervises a program, and what is first
// in a container, does its work while packages are initialized, those first that
// import least. It needs nothing of what the rest of the binary is linked with, so
// little of that is initialized at the start of every run; the JSON Schema library
// alone takes milliseconds.
func TestChildrenInitializeLittle(t *testing.T) {
	t.Parallel()
	children := []string{
		module + "/sandbox/docker/internal/entry",
		module + "/sandbox/host/internal/child",
		module + "/sandbox/local/internal/jail",
		module + "/sandbox/local/internal/launcher",
	}
	list := exec.Command("go", append([]string{"list", "-deps"}, children...)...)
	list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, name := range strings.Fields(string(out)) {
		if slices.Contains(children, name) {
			listed++
		}
		first, _, _ := strings.Cut(name, "/")
		library := strings.Contains(first, ".") && !within(name, module)
		if library && !within(name, "golang.org/x/sys") {
			t.Errorf("%s depend on %s, which every run would wait for", children, name)
		}
	}
	if listed != len(children) {
		t.Error("go list does not know the packages")
	}
}
