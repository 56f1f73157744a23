// Package integration drives the built skills-mcp binary from the outside, as
// hosts do: with the official TypeScript SDK's clients, with Claude Code, and
// with raw JSON-RPC lines. It imports nothing of ours but what runs it,
// integration/program.
//
// What a test needs besides Go, `make test-setup` installs. Where it is
// missing, the test skips and says so; named in SKILLS_MCP_REQUIRE (a
// comma-separated list of python, node, docker and vm), it fails instead.
package integration
