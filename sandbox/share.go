package sandbox

// Access is what programs may do with a directory of the user.
type Access string

// The kinds of access, the least first.
const (
	// AccessOff shows nothing.
	AccessOff Access = "off"
	// AccessRead lets programs read. Nothing changes.
	AccessRead Access = "read"
	// AccessReview lets programs read and write; what they change is kept in
	// [Share.Changes] and the user's files stay as they are.
	AccessReview Access = "review"
)

// Share is a directory of the user that programs see, such as the project.
type Share struct {
	// Path is its absolute, clean host path, without symbolic links. Programs see
	// it there, where the backend can.
	Path string
	// Layers are the absolute host directories of what is in it, as the lower
	// directories of an overlay, the uppermost first: what is in one hides what is
	// below it, and a character device 0:0 there is a whiteout. The last is the
	// user's own. The server alone writes the others.
	Layers []string
	// Access is [AccessRead] or [AccessReview].
	Access Access
	// Changes is the absolute host directory of what programs change, on a file
	// system that keeps extended attributes of users; required for
	// [AccessReview]. In it are [UpperDir], which is an overlay's upper directory
	// (opaque directories are marked by the attribute user.overlay.opaque), and
	// [WorkDir]. The backend makes what is not there; it must be there itself.
	// Later runs see what is in it. A run has it to itself: it holds an exclusive
	// flock(2) on the directory, as whoever else changes it must. One that has to
	// wait says so by [Spec.Progress], or fails where [Spec.NoWait] is set; the
	// time does not count for its timeout. What is in it counts for the limits of
	// the workspace.
	Changes string
}

// The directories in [Share.Changes].
const (
	UpperDir = "upper"
	WorkDir  = "work"
)

// Shared is what became of a [Share].
type Shared struct {
	// Path is where the program saw it: another than that of the Share where it
	// was a copy. Empty where Access is [AccessOff].
	Path string
	// Access is what was in force: never more than was asked for.
	Access Access
	// Reason says in one sentence, without host paths, why it was less, or that
	// it was a copy; else it is empty.
	Reason string
}
