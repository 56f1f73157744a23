package reaper

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// Both ways to find children find the same, where the kernel has both.
func TestChildren(t *testing.T) {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		t.Skip("this kernel lists no children")
	}
	for range 3 {
		sleep := exec.Command("sleep", "1000")
		if err := sleep.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			sleep.Process.Kill()
			sleep.Wait()
		}()
	}
	listed, looked := childrenOf(os.Getpid()), childrenByParent()(os.Getpid())
	slices.Sort(listed)
	slices.Sort(looked)
	if len(listed) != 3 || !slices.Equal(listed, looked) {
		t.Errorf("children are %v, and %v", listed, looked)
	}
}
