package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// modern is the protocol revision without an initialize handshake.
const modern = "2026-07-28"

// library is a client that others wrote and that hosts are built on.
type library struct {
	name     string
	pin      pin
	requires string                      // node or python; empty means no more than Go
	command  func(t *testing.T) []string // that starts the program which has it
	module   string                      // where that program has several
	ways     []way
}

// way is how a client speaks to a server.
type way struct {
	transport string   // stdio, http or sse
	revision  string   // that is to be agreed upon; empty means the initialize handshake
	bridge    []string // options of mcp-remote, where it is in between
}

var (
	sessions  = []way{{transport: "stdio"}, {transport: "http"}, {transport: "sse"}}
	stateless = []way{{transport: "stdio", revision: modern}, {transport: "http", revision: modern}, {transport: "sse", revision: modern}}
	bothEras  = slices.Concat(sessions, stateless)
	libraries = []library{
		{"TypeScript SDK v1", npm("@modelcontextprotocol/sdk"), "node", nodeProgram, "sdk1", sessions},
		{"TypeScript SDK v2", npm("@modelcontextprotocol/client"), "node", nodeProgram, "sdk2", bothEras},
		{"Python SDK v1", pip("hosts/python", "mcp"), "python", pythonProgram(firstPythonVenv), "sdk1", sessions},
		{"Python SDK v2", pip(pythonDir, "mcp"), "python", pythonProgram(pythonVenv), "sdk2", bothEras},
		{"FastMCP", pip(pythonDir, "fastmcp-slim"), "python", pythonProgram(pythonVenv), "fastmcp4", slices.Concat(sessions, stateless[:2])},
		{"Go SDK", pin{goDir + "/go.mod", "github.com/modelcontextprotocol/go-sdk v"}, "", goProgram, "", bothEras},
		{"mcp-remote", npm("mcp-remote"), "node", nodeProgram, "sdk2", []way{
			{transport: "http", bridge: []string{"--transport", "http-only"}},
			{transport: "sse", bridge: []string{"--transport", "sse-only"}},
			{transport: "http", bridge: []string{"--transport", "http-only", "--protocol", "auto"}},
		}},
	}
)

// exception is a step that clients cannot take, in some of their ways.
type exception struct {
	step      string
	libraries []string
	ways      func(w way) bool
	lacks     string // the method that they have not, or that fails, if it is that
	reason    string // follows "which"
}

// exceptions are all there are. TestClients tries what they lack, so that they
// do not outlive their reason.
var exceptions = []exception{
	{"skills", []string{"TypeScript SDK v1", "Python SDK v1", "Python SDK v2", "Go SDK"}, way.any, "skills.list",
		"have no client of the Skills extension"},
	{"skills", []string{"FastMCP"}, way.handshakes, "skills.list",
		"has that client with " + modern + " only"},
	{"cancel", []string{"mcp-remote"}, way.translates, "",
		"leaves a call's stream open, whose end is what cancels it in " + modern},
}

func (w way) any() bool        { return true }
func (w way) translates() bool { return slices.Contains(w.bridge, "auto") }
func (w way) handshakes() bool { return w.revision == "" }

// era returns that of the protocol, as the server sees it.
func (w way) era() string {
	if w.revision != "" || w.translates() {
		return modern
	}
	return "handshake"
}

// client is a library in one of its ways.
type client struct {
	library
	way
}

func (c client) name() string {
	return fmt.Sprintf("%s over %s with %s", c.library.name, c.transport, c.era())
}

// except returns the exception of a step, or nil.
func (c client) except(step string) *exception {
	for _, e := range exceptions {
		if e.step == step && slices.Contains(e.libraries, c.library.name) && e.ways(c.way) {
			return &e
		}
	}
	return nil
}

// clients returns every library in all its ways.
func clients() []client {
	var all []client
	for _, l := range libraries {
		for _, w := range l.ways {
			all = append(all, client{l, w})
		}
	}
	return all
}

// clientsOf returns the clients of libraries.
func clientsOf(names []string) []client {
	return slices.DeleteFunc(clients(), func(c client) bool { return !slices.Contains(names, c.library.name) })
}

// typeScript returns the clients of the official TypeScript SDK.
func typeScript() []client {
	return slices.DeleteFunc(clients(), func(c client) bool {
		return !strings.HasPrefix(c.library.name, "TypeScript")
	})
}

// coreClients is how many of the clients a test is run for with -short: those that
// have least in common.
const coreClients = 2

// forEach runs a test once for each of the clients, in parallel. It skips those
// that are not installed, and leaves to all variants those that show no era of a
// library and no transport that others do not: that a transport works in an era, and
// for a library, is what forEachWay shows.
func forEach(t *testing.T, clients []client, test func(t *testing.T, c client)) {
	t.Helper()
	forThose(t, clients, enough(clients, client.eras), test)
}

// forEachWay does so for as many of the clients as show every library over each of
// its transports and in each of its eras, and every transport in each era.
func forEachWay(t *testing.T, clients []client, test func(t *testing.T, c client)) {
	t.Helper()
	forThose(t, clients, enough(clients, client.pairs), test)
}

func forThose(t *testing.T, clients []client, names []string, test func(t *testing.T, c client)) {
	t.Parallel()
	for _, c := range clients {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			switch at := slices.Index(names, c.name()); {
			case at < 0:
				testenv.Variant(t, "another pair of a transport and an era that this client has in others")
			case at >= coreClients:
				testenv.Slow(t, "more clients than show both eras")
			}
			if c.requires != "" {
				require(t, c.requires)
			}
			test(t, c)
		})
	}
}

// pair is something of a client.
type pair [2]string

func (c client) pairs() []pair {
	return []pair{{c.library.name, c.transport}, {c.library.name, c.era()}, {c.transport, c.era()}}
}

func (c client) eras() []pair { return []pair{{c.library.name, c.era()}, {c.transport}} }

// enough returns the names of as many of the clients as have all that they have.
func enough(clients []client, has func(c client) []pair) (names []string) {
	shown := map[pair]bool{}
	adds := func(c client) []pair {
		return slices.DeleteFunc(has(c), func(p pair) bool { return shown[p] })
	}
	for len(names) < len(clients) {
		best, most := client{}, 0
		for _, c := range clients {
			if n := len(adds(c)); n > most {
				best, most = c, n
			}
		}
		if most == 0 {
			break
		}
		for _, p := range adds(best) {
			shown[p] = true
		}
		names = append(names, best.name())
	}
	return names
}

func TestEnough(t *testing.T) {
	t.Parallel()
	all := clients()
	for _, has := range []func(client) []pair{client.pairs, client.eras} {
		names := enough(all, has)
		if len(names) >= len(all) {
			t.Errorf("%d of %d clients are needed", len(names), len(all))
		}
		shown := map[pair]bool{}
		for _, c := range all {
			for _, p := range has(c) {
				shown[p] = shown[p] || slices.Contains(names, c.name())
			}
		}
		for p, is := range shown {
			if !is {
				t.Errorf("%q is not shown", p)
			}
		}
	}
}

func nodeProgram(*testing.T) []string { return []string{"node", nodeDir + "/peer.mjs"} }

func pythonProgram(venv string) func(t *testing.T) []string {
	return func(*testing.T) []string { return []string{program.Python(venv), pythonDir + "/peer.py"} }
}

var goProgramBuilt = struct {
	sync.Once
	err error
}{}

// goProgram builds the Go SDK's client, once for all tests, beside the server.
func goProgram(t *testing.T) []string {
	t.Helper()
	binary := filepath.Join(filepath.Dir(program.Binary(t)), "gosdk"+filepath.Ext(program.Binary(t)))
	goProgramBuilt.Do(func() {
		if out, err := exec.Command("go", "build", "-C", goDir, "-ldflags=-w", "-o", binary).CombinedOutput(); err != nil {
			goProgramBuilt.err = fmt.Errorf("go build -C %s: %w\n%s", goDir, err, out)
		}
	})
	if goProgramBuilt.err != nil {
		t.Fatal(goProgramBuilt.err)
	}
	return []string{binary}
}
