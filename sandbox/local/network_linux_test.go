//go:build amd64 || arm64

package local_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// Servers that a skill starts are reached by what it starts besides.
func TestServersOfOneRun(t *testing.T) {
	t.Parallel()
	backend := opener(local.Full)(t)
	defer backend.Close()
	for _, test := range []struct{ name, interpreter, shell string }{
		{"http in python", "python3", `echo served > file; python3 -m http.server 8000 >log 2>&1 &
			exec python3 -c '
import time, urllib.request
while True:
    try:
        print(urllib.request.urlopen("http://localhost:8000/file").read().decode(), end="")
        break
    except urllib.error.URLError as refused:
        time.sleep(0.05)
'`},
		{"http in node", "node", `exec node -e '
const http = require("http");
const server = http.createServer((request, response) => response.end("served\n"));
server.listen(8000, "127.0.0.1", () => {
	require("os").networkInterfaces(); // as those ask for that tell where to find them
	http.get("http://localhost:8000/", response => response.on("data", data => { process.stdout.write(data); process.exit(); }));
});'`},
		{"udp", "python3", `exec python3 -c '
import socket
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
a.bind(("127.0.0.1", 0))
b.sendto(b"served", a.getsockname())
print(a.recv(10).decode())
'`},
		{"ipv6", "python3", `exec python3 -c '
import os, socket
if os.path.exists("/proc/net/if_inet6"):
    server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    client = socket.create_connection(server.getsockname()[:2])
    server.accept()[0].send(b"served")
    print(client.recv(10).decode())
else:
    print("served")
'`},
	} {
		if _, err := exec.LookPath(test.interpreter); err != nil {
			t.Logf("%s: there is no %s", test.name, test.interpreter)
			continue
		}
		result, err := backend.Run(t.Context(), sandbox.Spec{Shell: test.shell, Workspace: t.TempDir()})
		if err != nil || string(result.Stdout.Data) != "served\n" {
			t.Errorf("%s: %s, %v: %s%s", test.name, result.Status, err, result.Stdout.Data, result.Stderr.Data)
		}
	}
	asNobodyToo(t)
}

// Runs at the same time do not reach each other's servers, even in one
// workspace, nor those of the run before.
func TestServersOfOtherRuns(t *testing.T) {
	t.Parallel()
	backend := opener(local.Full)(t)
	defer backend.Close()
	workspace := t.TempDir()
	const listen = `import os, socket
server = socket.create_server(("127.0.0.1", 8000))
other = socket.socket(socket.AF_UNIX)
other.bind("\0of another run")
other.listen()
open("listening", "w").close()
os.open("done", os.O_RDONLY) # a FIFO
`
	const connect = `import socket
for family, address in (socket.AF_INET, ("127.0.0.1", 8000)), (socket.AF_UNIX, "\0of another run"):
    try:
        socket.socket(family).connect(address)
        print("reached", address)
    except ConnectionRefusedError:
        print("refused")
`
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	python := func(program string) sandbox.Spec {
		return sandbox.Spec{Argv: []string{"python3", "-c", program}, Workspace: workspace}
	}
	say(t, backend, sandbox.Spec{Shell: "mkfifo done", Workspace: workspace})
	ended := make(chan error)
	go func() {
		result, err := backend.Run(t.Context(), python(listen))
		if err == nil && result.ExitCode != 0 {
			t.Errorf("the server failed: %s", result.Stderr.Data)
		}
		ended <- err
	}()
	say(t, backend, sandbox.Spec{Shell: "until test -e listening; do sleep 0.05; done", Workspace: workspace})
	during := say(t, backend, python(connect))
	say(t, backend, sandbox.Spec{Shell: ": > done", Workspace: workspace})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if after := say(t, backend, python(connect)); strings.Contains(during+after, "reached") {
		t.Errorf("during the run %q, after it %q", during, after)
	}
}
