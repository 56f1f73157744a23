package server

import (
	"os"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
)

// Grants are where what skills are granted comes from: hosts, secrets, packages
// and directories. In the zero value nothing is granted.
type Grants = access.Options

// NetworkEvent is one thing that a program asked the network for.
type NetworkEvent = egress.Event

// readNeeds returns what the files of a skill ask for.
func readNeeds(_, dir string) (needs.Needs, error) { return needs.Find(os.DirFS(dir)) }
