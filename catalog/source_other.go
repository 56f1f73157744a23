//go:build !linux

package catalog

func newSource(handle func(event)) (source, error) { return newLibrarySource(handle) }
