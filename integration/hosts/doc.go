// Package hosts lets whole agents drive the built skills-mcp binary: Claude
// Code, with a scripted stand-in for its model on loopback, and LangChain's MCP
// adapters for JavaScript and Python. Host, protocol and server are real; only
// what a model would decide is written down here. It imports nothing of ours
// but what runs it, integration/program.
//
// What a test needs besides Go, `make test-setup` installs. Where it is
// missing, the test skips and says so; named in SKILLS_MCP_REQUIRE (a
// comma-separated list that may hold node and python), it fails instead.
//
// No test reaches beyond loopback: the model's stand-in is also the proxy of
// every host that would like to, refuses, and fails the test.
package hosts
