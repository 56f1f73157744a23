package server

import (
	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server/internal/packages"
)

// WantedPackages returns what an environment of packages has to hold for a
// server to take it for a skill that needs that.
func WantedPackages(n needs.Needs) environments.Wanted { return packages.Wanted(n) }
