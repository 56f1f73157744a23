package paths

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// GitIndex reports whether a path is that of a git index, which is protected
// depending on what it holds: see [GitIndexFault].
func GitIndex(path string) bool {
	_, found := anyReading(path, func(n name) (string, bool) {
		last := len(n) - 1
		return "", last > 0 && n[last].is("index") && slices.ContainsFunc(n[:last], isGit)
	})
	return found
}

const (
	indexHeaderBytes = 12
	indexFixedBytes  = 62 // of an entry before its path, with SHA-1
	indexHashBytes   = 20
	indexExtended    = 0x4000
)

// GitIndexFault reports why an index must not become a repository's, as
// [Rules.Protected] does. Git believes its index: an entry for .git/hooks/x is
// written there when the user restores files. So it is one of version 2 to 4 of
// a repository with SHA-1, whole, and names clean paths outside of git
// directories.
func GitIndexFault(content []byte) (reason string, refused bool) {
	const unreadable = "is no git index that can be checked"
	entries, count, ok := openIndex(content)
	if !ok {
		return unreadable, true
	}
	for range count {
		path, ok := entries.next()
		if !ok {
			return unreadable, true
		}
		if !clean(path) || leadsIntoGit(path) {
			return "has an entry in a git directory", true
		}
	}
	return indexExtensions(entries.rest)
}

// GitIndexChange reports why the index after must not take the place of the one
// before, as [Rules.Protected] does: what is tracked of a path that is hidden or
// protected would be another, or not be tracked any more. Programs do not see
// hidden files, so that git commit --all records that they are gone, and what
// was refused in the directory itself would come by the next git restore. Where
// there was no index, before is nil; indexes are judged as far as they can be
// read, see [GitIndexFault] for those of programs. What stands in a commit that
// no index shows is not found.
func (r Rules) GitIndexChange(before, after []byte) (reason string, refused bool) {
	tracked, now := trackedBy(before), trackedBy(after)
	changed := ""
	note := func(path string, kind Kind) {
		if why, protected := r.Protected(path, kind); protected && (changed == "" || path < changed) {
			changed, reason = path, why
		}
	}
	for path, object := range now {
		if was, found := tracked[path]; !found {
			note(path, Added)
		} else if !bytes.Equal(was, object) {
			note(path, Modified)
		}
	}
	for path := range tracked {
		if _, stays := now[path]; !stays {
			note(path, Deleted)
		}
	}
	if changed == "" {
		return "", false
	}
	return "tracks another state of " + changed + ", which " + reason, true
}

// trackedBy returns the paths of an index, each with what it stands for, as far
// as it can be read.
func trackedBy(content []byte) map[string][]byte {
	tracked := map[string][]byte{}
	entries, count, ok := openIndex(content)
	for i := uint32(0); ok && i < count; i++ {
		head := entries.rest
		var path string
		if path, ok = entries.next(); ok {
			mode, object := head[24:28], head[40:indexFixedBytes-2]
			tracked[path] = append(append(tracked[path], mode...), object...)
		}
	}
	return tracked
}

// openIndex reads the head of an index.
func openIndex(content []byte) (entries indexEntries, count uint32, ok bool) {
	if len(content) < indexHeaderBytes+indexHashBytes || string(content[:4]) != "DIRC" {
		return indexEntries{}, 0, false
	}
	version := binary.BigEndian.Uint32(content[4:])
	entries = indexEntries{rest: content[indexHeaderBytes : len(content)-indexHashBytes], version: version}
	return entries, binary.BigEndian.Uint32(content[8:]), 2 <= version && version <= 4
}

func leadsIntoGit(path string) bool {
	_, found := anyReading(path, func(n name) (string, bool) {
		return "", slices.ContainsFunc(n, func(s segment) bool { return s.is(".git") })
	})
	return found
}

// indexExtensions refuses what has more entries elsewhere: extensions in small
// letters, which git must understand, as "link" of a split index.
func indexExtensions(rest []byte) (reason string, refused bool) {
	for len(rest) > 0 {
		if len(rest) < 8 || rest[0] < 'A' || rest[0] > 'Z' {
			return "is a split or sparse git index", true
		}
		size := binary.BigEndian.Uint32(rest[4:])
		if uint64(size) > uint64(len(rest)-8) {
			return "is a git index that is cut off", true
		}
		rest = rest[8+size:]
	}
	return "", false
}

// indexEntries reads the entries of an index, one after the other.
type indexEntries struct {
	rest    []byte
	version uint32
	path    []byte // of the last one
}

// next returns the path of the next entry.
func (e *indexEntries) next() (path string, ok bool) {
	if len(e.rest) < indexFixedBytes {
		return "", false
	}
	head := indexFixedBytes
	if binary.BigEndian.Uint16(e.rest[indexFixedBytes-2:])&indexExtended != 0 {
		if head += 2; e.version == 2 {
			return "", false
		}
	}
	if len(e.rest) < head {
		return "", false
	}
	body := e.rest[head:]
	if e.version == 4 {
		if body, ok = e.dropShared(body); !ok {
			return "", false
		}
	} else {
		e.path = e.path[:0]
	}
	end := bytes.IndexByte(body, 0)
	if end < 0 {
		return "", false
	}
	e.path = append(e.path, body[:end]...)
	used := len(e.rest) - len(body) + end + 1
	if e.version < 4 {
		used = (head + end + 8) / 8 * 8 // filled up with 1 to 8 zero bytes
	}
	if used > len(e.rest) {
		return "", false
	}
	e.rest = e.rest[used:]
	return string(e.path), true
}

// dropShared takes from the last path what the next one does not share with it,
// as the number before its rest says.
func (e *indexEntries) dropShared(body []byte) (rest []byte, ok bool) {
	var drop uint64
	for i, c := range body {
		if i > 4 {
			break
		}
		drop = drop<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			if drop > uint64(len(e.path)) {
				return nil, false
			}
			e.path = e.path[:uint64(len(e.path))-drop]
			return body[i+1:], true
		}
		drop++
	}
	return nil, false
}
