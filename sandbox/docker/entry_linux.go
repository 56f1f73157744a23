//go:build amd64 || arm64

package docker

import _ "github.com/skills-mcp/skills-mcp/sandbox/docker/internal/entry" // what this binary is in an image
