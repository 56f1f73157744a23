package workspaces

import (
	"cmp"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// lease is who uses a workspace, and when it was last used. It is read
// and changed under its store's lock.
type lease struct {
	store   *Store
	caller  string
	holders int
	used    time.Time
}

func (l *lease) acquire() (release func()) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.holders++
	return sync.OnceFunc(func() {
		l.store.mu.Lock()
		defer l.store.mu.Unlock()
		l.holders--
		l.used = l.store.now()
	})
}

// expire removes what was idle for too long. The lock is held.
func (w *Store) expire() {
	now := w.now()
	for handle, lease := range w.live {
		if lease.holders == 0 && now.Sub(lease.used) >= w.idle {
			w.remove(handle)
		}
	}
}

// makeRoom makes sure that a caller can have one more workspace. Where there
// are as many as there may be, it removes the one that was idle longest of the
// caller who has most, if that is the one who asks or has more. It reports
// whether there is room then. The lock is held.
func (w *Store) makeRoom(caller string) bool {
	have, busy := map[string]int{}, 0
	for _, lease := range w.live {
		have[lease.caller]++
		if lease.caller == caller && lease.holders > 0 {
			busy++
		}
	}
	if busy >= w.max-w.max/reserved {
		return false
	}
	if len(w.live) < w.max {
		return true
	}
	oldest := ""
	for handle, lease := range w.live {
		if lease.holders > 0 || lease.caller != caller && have[lease.caller] <= have[caller] {
			continue
		}
		other, found := w.live[oldest]
		if !found || cmp.Or(cmp.Compare(have[other.caller], have[lease.caller]), lease.used.Compare(other.used)) < 0 {
			oldest = handle
		}
	}
	if oldest == "" {
		return false
	}
	w.remove(oldest)
	return true
}

// remove forgets a workspace at once and removes its directory aside, since
// that may hold many files. What cannot be removed now is tried again by
// Close. The lock is held.
func (w *Store) remove(handle string) {
	delete(w.live, handle)
	w.expired = append(w.expired, handle)
	if len(w.expired) > handlesRemembered {
		w.expired = w.expired[1:]
	}
	told := w.told
	w.removal.Go(func() {
		if told != nil {
			told(handle)
		}
		gone := w.workspace(handle, nil)
		for _, dir := range []string{gone.Dir, gone.Private} {
			_ = tempdir.Remove(dir)
		}
	})
}
