package conformance

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

var update = flag.Bool("update", false, "write the section of results in docs/protocol.md")

// Roots that the tests serve: good skills, and skills with a fault each.
const (
	samples = "../../testdata/skills/valid"
	faulty  = "../../testdata/skills/invalid"
)

// scratch is a directory that is removed when all tests are over.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "skills-mcp-conformance-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return program.Main(m)
}
