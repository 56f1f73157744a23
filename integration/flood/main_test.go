package flood

import (
	"os"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
