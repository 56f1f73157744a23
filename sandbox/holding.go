package sandbox

import (
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// holding tells whether a workspace is in use, and when it last was. Its
// owner's lock guards it.
type holding struct {
	owner   *Workspaces
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

// makeRoom removes the workspace that was idle longest where there are as
// many as there may be. It tells whether there is room then. The lock is held.
func (w *Workspaces) makeRoom() bool {
	if len(w.live) < w.max {
		return true
	}
	oldest := ""
	for handle, held := range w.live {
		if held.holders == 0 && (oldest == "" || held.used.Before(w.live[oldest].used)) {
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
