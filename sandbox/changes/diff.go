package changes

// DiffOptions say what of a set is compared, and how much of it is shown.
type DiffOptions struct {
	// Paths are as in [Set.Apply].
	Paths []string
	// Judge is as in [Set.Held]: what it refuses is left out.
	Judge Judge
	// FileBytes is the size of the largest file of which lines are shown; larger
	// ones, and those that are no text, are shown by size and digest. If zero,
	// 1 MiB.
	FileBytes int64
	// Show, if set, returns what is shown of the text of a file, before that is
	// compared.
	Show func(text string) string
	// Bytes bounds the text. If zero, 256 KiB.
	Bytes int
}

// Diff is a unified diff in git's format.
type Diff struct {
	// ID is the state that was compared, as [Held.ID].
	ID string
	// Text holds the changes by path. The content of files stands in it as it is,
	// control characters and all: who shows it to a terminal or a model escapes
	// them. In paths they are quoted.
	Text string
	// Omitted counts the changes that did not fit, of which the last one shown
	// may be one.
	Omitted int
}
