// Package cards shows the cards of the built skills-mcp binary in a real browser: a
// stand-in host frames each as the extension MCP Apps demands, speaks the host's
// half of the dialogue, and hands it the results that the server gave. It imports
// nothing of ours but what runs it, integration/program.
//
// What a test needs besides Go, `make test-setup` installs. Where it is missing, the
// test skips and says so; with browser in SKILLS_MCP_REQUIRE it fails instead.
//
// The browser reaches nothing: each request that a card makes fails the test.
//
//	go test ./integration/cards -run TestCards/all -shots DIR
//
// writes a picture of each card to a directory, for people to look at.
package cards
