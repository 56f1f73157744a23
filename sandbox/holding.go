package sandbox

import (
	"cmp"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// holding tells whether a workspace is in use, and when it last was. Its
// owner's lock guards it.
type holding struct {
	owner   *Workspaces
	caller  string
	holders int
	used    time.Time
}

func (h *holding) hold() (release func()) {
	h.owner.mu.Lock()
	defer h.owner.mu.Unlock()
	h.holders++
	return sync.OnceFunc(func() {
		h.owner.mu.Lock()
		defer h.owner.mu.Unlock()
		h.holders--
		h.used = h.owner.now()
	})
}

// expire removes what was idle for too long. The lock is held.
func (w *Workspaces) expire() {
	now := w.now()
	for handle, held := range w.live {
		if held.holders == 0 && now.Sub(held.used) >= w.idle {
			w.remove(handle)
		}
	}
}

// makeRoom makes sure that a caller can have one more workspace. Where there
// are as many as there may be, it removes the one that was idle longest of the
// caller who has most, if that is the one who asks or has more. It reports
// whether there is room then. The lock is held.
func (w *Workspaces) makeRoom(caller string) bool {
	have, busy := map[string]int{}, 0
	for _, held := range w.live {
		have[held.caller]++
		if held.caller == caller && held.holders > 0 {
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
	for handle, held := range w.live {
		if held.holders > 0 || held.caller != caller && have[held.caller] <= have[caller] {
			continue
		}
		other, found := w.live[oldest]
		if !found || cmp.Or(cmp.Compare(have[other.caller], have[held.caller]), held.used.Compare(other.used)) < 0 {
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
func (w *Workspaces) remove(handle string) {
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
