package server

import (
	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
)

// Grants are where what skills are granted comes from: hosts, secrets, packages
// and directories. In the zero value nothing is granted.
type Grants = access.Options

// NetworkEvent is one thing that a program asked the network for.
type NetworkEvent = egress.Event

// NotGranted returns the hosts and the variables that the files of a skill ask for
// and these grants do not have: the first few, as they are shown.
func NotGranted(granted grants.Grants, asked needs.Needs) (hosts, variables []string) {
	return access.Lacked(&granted, asked)
}
