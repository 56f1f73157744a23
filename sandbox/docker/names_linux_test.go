package docker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Programs find themselves by name, learn of no name server of the machine, and share
// no file with other containers, by whose locks they could tell them things.
func TestNamesOfHosts(t *testing.T) {
	t.Parallel()
	backend := shared(t)
	if !backend.MakesNames() {
		testenv.Need(t, "docker", errors.New("the engine is not on this machine, or its runtime is not runc"))
	}
	said := runAtOnce(t, backend, 2, sandbox.Spec{
		Workspace: t.TempDir(), SkillDir: t.TempDir(),
		Shell: `stat -c %d:%i /etc/hosts /etc/resolv.conf; grep nameserver /etc/resolv.conf
			{ echo x > /etc/hosts || chmod 777 /etc/hosts || rm -f /etc/resolv.conf; } 2> /dev/null && echo changed
			python3 -c 'import socket; print(socket.create_server(("localhost", 0)).getsockname()[0], socket.gethostbyname("sandbox"))'`,
	})
	files := make(map[string]bool)
	for _, each := range said {
		lines := strings.SplitN(each, "\n", 3)
		if len(lines) != 3 || lines[2] != "nameserver 127.0.0.1\n127.0.0.1 127.0.0.1\n" {
			t.Fatalf("a program says %q", each)
		}
		files[lines[0]], files[lines[1]] = true, true
	}
	if len(files) != 4 {
		t.Errorf("two containers have the files %v", files)
	}
}
