package cgroup

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// namePrefix begins the name of every cgroup that is made here; the process id
// of the server follows, then a number.
const namePrefix = "skills-mcp-"

// lastNumber is that of the newest cgroup of this process.
var lastNumber atomic.Int64

// newName returns a name that no other cgroup has.
func newName() string {
	return fmt.Sprintf("%s%d-%d", namePrefix, os.Getpid(), lastNumber.Add(1))
}

// Place is where cgroups can be made. It is the same for all of a process,
// whose own place in the hierarchy matters.
type Place struct {
	idle  Idle
	users int

	mu   sync.RWMutex
	kind hierarchy
}

// hierarchy is one of the two versions.
type hierarchy interface {
	fmt.Stringer
	// bounds returns what can be bounded.
	bounds() Bounds
	// dirs are where the cgroups are made.
	dirs() []string
	// open makes a cgroup.
	open(Limits) (Group, error)
	// close gives back what was taken to make cgroups.
	close() error
}

var (
	mu     sync.Mutex
	shared *Place // nil where nobody uses it
)

// Find finds a place, or returns that which is in use. What servers that were
// killed have left there is removed. Idle is called where a scope of systemd
// needs a process. The place must be closed once for every call.
func Find(idle Idle) *Place {
	mu.Lock()
	defer mu.Unlock()
	if shared == nil {
		shared = &Place{idle: idle}
		if err := shared.find(); err != nil {
			shared.kind = nowhere{err}
		}
	} else {
		shared.mu.RLock()
		for _, dir := range shared.kind.dirs() {
			sweep(dir)
		}
		shared.mu.RUnlock()
	}
	shared.users++
	return shared
}

// find sets the hierarchy unless there is none.
func (p *Place) find() error {
	memberships, err := readMemberships("self")
	if err != nil {
		return err
	}
	if old := findSeparate(memberships); old != nil {
		p.kind = old
		return nil
	}
	own, err := memberships.unified()
	if err != nil {
		return err
	}
	found, err := divideOne(own)
	if err != nil {
		var scopeErr error
		if found, scopeErr = newScope(own, p.idle); scopeErr != nil {
			return errors.Join(err, scopeErr)
		}
	}
	p.kind = found
	return nil
}

// Close gives back what was taken for the place, once nobody uses it.
func (p *Place) Close() error {
	mu.Lock()
	defer mu.Unlock()
	if p.users--; p.users > 0 {
		return nil
	}
	shared = nil
	return p.kind.close()
}

// String says where the place is, or why there is none. It is for logs.
func (p *Place) String() string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.kind.String()
}

// Bounds are what of a run as a whole can be bounded.
type Bounds struct{ Memory, Processes, CPUs bool }

// Bounds returns what of a run as a whole can be bounded.
func (p *Place) Bounds() Bounds {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.kind.bounds()
}

// Limits are those of a run as a whole. What cannot be bounded is not.
type Limits struct {
	MemoryBytes int64
	// Processes is how many processes and threads there may be. If zero,
	// they are not bounded here.
	Processes int
	// MilliCPUs are thousandths of a processor. If zero, or as much as there is,
	// processor time is not bounded.
	MilliCPUs int
}

// quotaPeriod is the time, in microseconds, of which a part is a run's.
const quotaPeriod = 100_000

// quota returns how many microseconds of processor time a run has in each
// [quotaPeriod], or nothing where that is as much as there is.
func (l Limits) quota() string {
	if l.MilliCPUs <= 0 || l.MilliCPUs >= runtime.NumCPU()*1000 {
		return ""
	}
	return strconv.Itoa(l.MilliCPUs * (quotaPeriod / 1000))
}

// Open makes a cgroup for a run.
func (p *Place) Open(limits Limits) (Group, error) {
	g, err := p.open(limits)
	if errors.Is(err, os.ErrNotExist) {
		if err = p.findAgain(); err == nil {
			g, err = p.open(limits)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	return g, nil
}

func (p *Place) open(limits Limits) (Group, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.kind.open(limits)
}

// findAgain is for a place that is no more, such as a scope that somebody has
// stopped. There must be another, since what a run was promised must hold.
func (p *Place) findAgain() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if another, err := p.kind.open(Limits{MemoryBytes: 1 << 20}); err == nil { // somebody else has found it
		return another.Remove()
	}
	gone := p.kind
	if err := p.find(); err != nil {
		return err
	}
	return gone.close()
}
