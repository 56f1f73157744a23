// Package flood asks the built skills-mcp binary far more than it can do at
// once, over every transport and in both eras of the protocol, and takes much
// of it back: whatever is asked is answered once or was canceled, pings are
// answered all the while, and nothing is left. It imports nothing of ours but
// what runs the binary, integration/program.
package flood
