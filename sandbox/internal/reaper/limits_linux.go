package reaper

import "golang.org/x/sys/unix"

// SetLimits sets resource limits of this process, and so of its program, as far
// as it may.
func SetLimits(limits map[int]uint64) error {
	for resource, value := range limits {
		var have unix.Rlimit
		if err := unix.Getrlimit(resource, &have); err != nil {
			return err
		}
		value = min(value, have.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return err
		}
	}
	return nil
}
