package catalog

import (
	"slices"
	"strings"
)

// folder holds what is known of a directory's entries, sorted by name. There
// are many of them, most with few entries: a map would take several times the
// memory.
type folder []entryPrint

type entryPrint struct {
	name string
	fingerprint
}

func (d folder) index(name string) (i int, found bool) {
	return slices.BinarySearchFunc(d, name, func(e entryPrint, name string) int { return strings.Compare(e.name, name) })
}

// find returns what is known of an entry.
func (d folder) find(name string) (fingerprint, bool) {
	if i, found := d.index(name); found {
		return d[i].fingerprint, true
	}
	return fingerprint{}, false
}

// with returns the folder with an entry, a new one or another.
func (d folder) with(name string, now fingerprint) folder {
	i, found := d.index(name)
	if found {
		d[i].fingerprint = now
		return d
	}
	return slices.Insert(d, i, entryPrint{name, now})
}

// without returns the folder without an entry.
func (d folder) without(name string) folder {
	if i, found := d.index(name); found {
		return slices.Delete(d, i, i+1)
	}
	return d
}
