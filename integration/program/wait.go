package program

import (
	"testing"
	"time"
)

// Patience bounds every wait for something that should happen. It is long
// because a busy machine is no failure.
const Patience = 5 * time.Minute

// Eventually polls a condition that another process brings about. What says,
// for the failure, what was waited for.
func Eventually(t testing.TB, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", Patience, what)
		}
	}
}

// Within bounds the wait for something that another process does, and returns
// what do returns. One that goes on beyond the bound is left behind.
func Within(t testing.TB, what string, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(Patience):
		t.Fatalf("not within %v: %s", Patience, what)
		return nil
	}
}
