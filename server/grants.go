package server

import (
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
)

// Grants are where what skills are granted comes from: hosts, secrets, packages
// and directories. In the zero value nothing is granted.
type Grants = access.Options

// NetworkEvent is one thing that a program asked the network for.
type NetworkEvent = egress.Event
