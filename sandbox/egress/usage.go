package egress

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// maxRefusedHosts is how many hosts of which nothing was let through are
// remembered, so that those leave room for the others.
const maxRefusedHosts = MaxHosts / 2

// ledger counts what a session is asked for.
type ledger struct {
	mu      sync.Mutex
	entries map[hostPort]*entry
	refused int // entries that were never allowed anything
	omitted int
	secrets map[string]bool
}

type hostPort struct {
	host string
	port int
}

// entry is what became of one host and port. The bytes are counted without the
// ledger's lock.
type entry struct {
	key               hostPort
	requests, refused int
	reason            Reason
	wanted            hosts.Rule
	never             bool // allowed
	bytes             atomic.Int64
}

func newLedger() *ledger {
	return &ledger{entries: map[hostPort]*entry{}, secrets: map[string]bool{}}
}

// allow counts a request that is let through, and returns where its bytes are to
// be counted.
func (l *ledger) allow(host string, port int) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.find(hostPort{host, port}, true)
	found.requests++
	return found
}

// withdraw takes back that a request was counted as let through, where there was no
// connection on which it could be sent.
func (l *ledger) withdraw(host string, port int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.entries[hostPort{host, port}]; found != nil && found.requests > 0 {
		found.requests--
	}
}

// at returns where the bytes of a host are counted.
func (l *ledger) at(host string, port int) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(hostPort{host, port}, true)
}

func (l *ledger) refuse(host string, port int, reason Reason, wanted hosts.Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.find(hostPort{host, port}, false)
	found.refused++
	found.reason, found.wanted = reason, wanted
}

// find returns the entry of a host, or one that nobody will see where there are
// too many.
func (l *ledger) find(key hostPort, allowed bool) *entry {
	found := l.entries[key]
	switch {
	case found != nil:
		if allowed && found.never {
			found.never = false
			l.refused--
		}
		return found
	case len(l.entries) >= MaxHosts, !allowed && l.refused >= maxRefusedHosts:
		l.omitted++
		return &entry{key: key}
	case !allowed:
		l.refused++
	}
	found = &entry{key: key, never: !allowed}
	l.entries[key] = found
	return found
}

func (l *ledger) useSecrets(names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.secrets[name] = true
	}
}

func (l *ledger) usage() Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	usage := Usage{Omitted: l.omitted}
	for key, entry := range l.entries {
		usage.Hosts = append(usage.Hosts, HostUsage{
			Host: key.host, Port: key.port,
			Requests: entry.requests, Refused: entry.refused, Reason: entry.reason, Wanted: entry.wanted,
			Bytes: entry.bytes.Load(),
		})
	}
	slices.SortFunc(usage.Hosts, func(a, b HostUsage) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port))
	})
	for name := range l.secrets {
		usage.Secrets = append(usage.Secrets, name)
	}
	slices.Sort(usage.Secrets)
	return usage
}
