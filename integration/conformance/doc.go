// Package conformance runs the official test tools of MCP against the built
// skills-mcp binary: the conformance suite, scenario by scenario at every
// protocol version that a scenario knows, and the inspector. It imports
// nothing of ours but what runs it, integration/program.
//
// The tools and a Node.js that is new enough for them come from npm; `make
// test-setup` installs them. Where they are missing the tests skip and say so;
// where SKILLS_MCP_REQUIRE names node, they fail instead.
//
// A check of the suite that fails or warns fails the test, unless expected.txt
// lists it with the reason; one that is listed there and passes fails it too.
// The section of results in docs/protocol.md is generated from the runs: go test -update.
package conformance
