package escape

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// probeName is the name by which a test binary knows that it is to make an
// attempt, instead of to test.
const probeName = "escape-probe"

// The exit codes of a probe.
const (
	exitOpen    = 0
	exitBlocked = 3
)

// allOrders has a probe make the attempts that its standard input orders.
const allOrders = "all"

func init() {
	switch {
	case filepath.Base(os.Args[0]) != probeName:
	case len(os.Args) == 3:
		syscall.Exit(probe(os.Args[1], os.Args[2]))
	case len(os.Args) == 2 && os.Args[1] == allOrders:
		if err := obey(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(exitBlocked)
		}
		syscall.Exit(exitOpen)
	}
}

// order is an attempt that a probe has another process make, in a directory of
// its own.
type order struct {
	Name, Dir string
	Apart     bool // in a network of its own
	Victims   Victims
}

// orders returns those for attempts, each in the directory that has its number.
func orders(batch []Attempt, victims []Victims, apart bool) []order {
	all := make([]order, len(batch))
	for i, attempt := range batch {
		all[i] = order{attempt.Name, strconv.Itoa(i), apart && attempt.Apart, victims[i]}
	}
	return all
}

// obey makes attempts one after the other, and writes how they ended.
func obey(in io.Reader, out io.Writer) error {
	var orders []order
	if err := json.NewDecoder(in).Decode(&orders); err != nil {
		return err
	}
	endings := make([]ending, len(orders))
	for i, o := range orders {
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return err
		}
		endings[i] = o.obey()
	}
	return json.NewEncoder(out).Encode(endings)
}

// obey makes an attempt.
func (o order) obey() ending {
	victims, err := json.Marshal(o.Victims)
	if err != nil {
		return ending{exitBlocked, err.Error()}
	}
	command := exec.Command("/proc/self/exe", o.Name, string(victims))
	command.Args[0] = probeName
	if attempt := find(o.Name); attempt != nil && attempt.Shell != "" {
		arguments := shell(attempt.Shell)
		command = exec.Command(arguments[0], arguments[1:]...)
	}
	command.Dir, command.Env = o.Dir, os.Environ()
	for name, value := range o.Victims.environ() {
		command.Env = append(command.Env, name+"="+value)
	}
	if o.Apart {
		command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	}
	said, err := command.CombinedOutput()
	if err == nil {
		return ending{exitOpen, truncate.To(string(said), maxSaid)}
	}
	return ending{exitBlocked, truncate.To(fmt.Sprintf("%v: %s", err, said), maxSaid)}
}

// maxSaid is how much of what an attempt said are kept.
const maxSaid = 300

// find returns the attempt of a name, or nil.
func find(name string) *Attempt {
	attempts := append(rows(), control(), controlOfGrants())
	i := slices.IndexFunc(attempts, func(a Attempt) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &attempts[i]
}

// probe makes one attempt.
func probe(name, victims string) int {
	var v Victims
	if err := json.Unmarshal([]byte(victims), &v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBlocked
	}
	attempt := find(name)
	if attempt == nil || attempt.Try == nil {
		fmt.Fprintln(os.Stderr, "there is no such attempt")
		return exitBlocked
	}
	if err := attempt.Try(v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBlocked
	}
	return exitOpen
}

// control is what must succeed in a sandbox too: else the probe does not run
// there, and that attempts fail says nothing.
func control() Attempt {
	return Attempt{Name: "control", Try: func(Victims) error {
		if _, err := os.ReadFile(filepath.Join(os.Getenv("SKILL_DIR"), "file")); err != nil {
			return err
		}
		return os.WriteFile("made", nil, 0o600)
	}}
}
