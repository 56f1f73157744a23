package catalog

import "path/filepath"

// insideSkills gives those of the paths that are a skill's directory or lie
// in one, before or after the change.
func insideSkills(paths []string, snapshots ...*Snapshot) []string {
	if len(paths) == 0 {
		return nil
	}
	dirs := map[string]bool{}
	for _, s := range snapshots {
		for _, skill := range s.skills {
			dirs[skill.Dir] = true
		}
	}
	var inside []string
	for _, path := range paths {
		for dir := path; ; dir = filepath.Dir(dir) {
			if dirs[dir] {
				inside = append(inside, path)
				break
			}
			if filepath.Dir(dir) == dir {
				break
			}
		}
	}
	return inside
}

// changedEntries gives the entry documents of skills that came, went or
// changed.
func changedEntries(before, after *Snapshot) []string {
	var entries []string
	for _, skill := range before.skills {
		if now := after.byName[skill.Name]; now == nil || !now.equal(skill) {
			entries = append(entries, filepath.Join(skill.Dir, skill.Entry))
		}
	}
	for _, skill := range after.skills {
		if was := before.byName[skill.Name]; was == nil || !was.equal(skill) {
			entries = append(entries, filepath.Join(skill.Dir, skill.Entry))
		}
	}
	return entries
}
