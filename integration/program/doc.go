// Package program builds skills-mcp and runs it, and the programs that test
// it, for the integration tests: each in an environment of its own, gone when
// its test is over. It imports nothing of ours.
//
// A package of tests builds the server once, before its first test:
//
//	func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
package program
