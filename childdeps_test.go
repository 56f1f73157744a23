package skillsmcp_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestChildrenInitializeLittle: what jails a program does its work while
// packages are initialized, those first that import least. It needs nothing of
// what the rest of the binary is linked with, so none of that is initialized
// at the start of every run; the JSON Schema library alone takes milliseconds.
func TestChildrenInitializeLittle(t *testing.T) {
	t.Parallel()
	const jail = module + "/sandbox/local/internal/jail"
	list := exec.Command("go", "list", "-deps", jail)
	list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := false
	for _, name := range strings.Fields(string(out)) {
		listed = listed || name == jail
		first, _, _ := strings.Cut(name, "/")
		library := strings.Contains(first, ".") && !within(name, module)
		if library && !within(name, "golang.org/x/sys") {
			t.Errorf("%s depends on %s, which every run would wait for", jail, name)
		}
	}
	if !listed {
		t.Error("go list does not know the package")
	}
}
