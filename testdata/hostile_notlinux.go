//go:build unix && !linux

package testdata

import "errors"

// makeDevice says that device numbers are known for Linux only.
func makeDevice(string) error { return errors.ErrUnsupported }
