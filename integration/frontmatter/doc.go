// Package frontmatter compares the frontmatter that the built skills-mcp
// publishes with what readers of YAML that we did not write make of the same
// text: the npm package yaml, and for Python ruamel.yaml and PyYAML. It
// imports nothing of ours but what runs the binary, integration/program, and the
// samples.
//
// The documents are every sample of testdata, tables of what scalars, blocks
// and other forms YAML has, and documents that are nested at random from a
// fixed seed. For each of them all readers agree with skills-mcp on whether it
// is read, on every value and on the order of keys, or the difference is one
// of a table, with the reason. What of that table is not met any more fails
// the test too.
//
// It also asks the reference validator of Agent Skills for its verdicts, to which
// the strict mode is held.
//
// The readers come from npm and pip; `make test-setup` installs them. Where
// they are missing the test skips and says so; where SKILLS_MCP_REQUIRE names
// node or python, it fails instead.
package frontmatter
