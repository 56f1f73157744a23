package execution

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A call that says nothing for a time says that it is still at work, until it has
// ended.
func TestUnsilenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		report, stop := unsilenced(func(line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		})
		told := func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(lines)
		}
		time.Sleep(silenceMost - time.Second)
		report("one")
		time.Sleep(silenceMost - time.Second)
		if got, want := told(), []string{"one"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		time.Sleep(silenceMost + 2*time.Second)
		if got, want := told(), []string{"one", "still at work after 29s", "still at work after 44s"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		stop()
		report, stop = unsilenced(nil)
		if report != nil {
			t.Error("progress that nobody asked for")
		}
		stop()
		time.Sleep(time.Hour)
		if got := told(); len(got) != 3 {
			t.Errorf("told %q after its end", got)
		}
	})
}
