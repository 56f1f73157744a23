// Package steps changes files of the user one by one, each as a whole or not at
// all, by a journal from which a step that was interrupted can be finished or
// taken back. It is for Linux.
package steps

// Target is a directory of the user, and what people call it.
type Target struct {
	// Path is its absolute, clean path, without symbolic links.
	Path string `json:"path"`
	// Label names it to people, such as "project". Skill and Workspace say whose
	// changes these are. All three may be empty.
	Label     string `json:"label,omitempty"`
	Skill     string `json:"skill,omitempty"`
	Workspace string `json:"workspace,omitempty"`
	// Project is the project to which it belongs where that is another directory,
	// as the repository of a linked worktree does: its rules hold here too.
	Project string `json:"project,omitempty"`
	// Files are the names of the regular files that programs see where they do
	// not see the whole directory: all else in the set is refused. If empty, they
	// see it all.
	Files []string `json:"files,omitempty"`
}
