//go:build !linux && !darwin

package process

// diskSpace is not known here.
func diskSpace(string) (free, all int64, known bool) { return 0, 0, false }
