// Package child is the process that starts a program and ends all that it leaves.
// It is this very program, started again, and needs nothing that the rest of it is
// linked with.
package child

// Order is what is started.
type Order struct {
	Argv []string // the first is the absolute path of the program
	Env  []string
	Dir  string
}
