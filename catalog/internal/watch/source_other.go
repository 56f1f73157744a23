//go:build !linux

package watch

func newSource(handle func(event)) (source, error) { return newLibrarySource(handle) }
