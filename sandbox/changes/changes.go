// Package changes holds what programs changed in directories of the user until
// the user says that it is to be applied, and applies it so that no file of the
// user is ever lost.
//
// A change set ([Set]) is the upper directory of an overlay above one directory
// of the user, its target. Programs write into it and the target stays as it
// is. [Set.Held] lists what they changed; [Set.Apply] writes some of it, or all,
// to the target, each file as a whole or not at all, and keeps what was there
// before, so that [Store.Undo] can bring it back; [Set.Discard] forgets it.
//
// What is in a set was made by untrusted programs, which may be writing it
// while it is read: nothing in it is followed, and what is no regular file,
// directory or symbolic link inside of the target is refused. The user may
// write to the target at any time too: what changed there since the programs
// saw it is a conflict, and stays.
//
// Sets are directories in the user's state, and are locked by the kernel: any
// number of servers and commands may use the same ones at once, and one that
// is killed at any moment leaves each file as it was or as it was to be.
//
// Hard links in the target are taken apart: a file that is replaced gets a new
// inode, and its other names keep the old content. Programs that have a file
// open for writing while it is to be replaced make it a conflict, where the file
// system can say so. File systems that cannot exchange two names, such as NFS,
// leave a moment between the last look at a file and its replacement: what is
// written to it then is replaced too.
//
// Only Linux has overlays, so elsewhere all fails with [ErrUnsupported].
package changes

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"
)

// Options configure a [Store]. The zero value is ready to use.
type Options struct {
	// Logger gets what recovery found and did. If nil, nothing is logged.
	Logger *slog.Logger
	// Now is the clock by which sets expire. If nil, time.Now.
	Now func() time.Time
	// KeepApplied is how many applied sets can be undone; older ones are
	// forgotten. If zero, 20.
	KeepApplied int
	// KeepBytes is how much space replaced and removed files may take until
	// they are forgotten, the oldest first. One apply that needs more fails with
	// [ErrTooLarge]. If zero, 2 GiB.
	KeepBytes int64
	// Wait is how long an apply, a discard or an undo waits for programs that use
	// the set, and for others of its kind, before it fails with [ErrBusy]. If zero,
	// until its context ends.
	Wait time.Duration
}

// Target is the directory of the user that a set is about.
type Target = steps.Target

// Kind is what happened to a path.
type Kind string

// The kinds of changes. A rename is a Deleted and an Added; so is a directory
// that became a file, or a file that became a directory.
const (
	Added    Kind = "added"
	Modified Kind = "modified"
	Deleted  Kind = "deleted"
	Mode     Kind = "mode" // of permissions alone
)

// Change is what programs did to one path. As JSON its mode is a type and the
// permissions, such as "file" and "0644".
type Change struct {
	// Path is relative to the target, clean, slash-separated and valid UTF-8; it
	// may hold any other character, control characters too.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	// Mode is the new type and permissions, those of the user's file where it
	// is Deleted. There are only regular files, directories and symbolic links,
	// and only the nine bits of permissions.
	Mode fs.FileMode `json:"-"`
	// Size in bytes and Digest, "sha256:<hex>", are those of the new content of a
	// regular file.
	Size   int64  `json:"size,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Link is what a symbolic link holds.
	Link string `json:"link,omitempty"`
	// Conflict says in one sentence why applying it now would be a conflict, as
	// far as that is known; mostly it is empty.
	Conflict string `json:"conflict,omitempty"`
}

// MarshalJSON writes the mode as people know it.
func (c Change) MarshalJSON() ([]byte, error) {
	type plain Change
	kind := "file"
	switch c.Mode.Type() {
	case fs.ModeDir:
		kind = "directory"
	case fs.ModeSymlink:
		kind = "link"
	}
	return json.Marshal(struct {
		plain
		Type string `json:"type"`
		Mode string `json:"mode"`
	}{plain(c), kind, fmt.Sprintf("%04o", c.Mode.Perm())})
}

// Refusal is a path to which something was not done, and why, in one sentence.
type Refusal struct {
	// Path is as in [Change], but that bytes which are no UTF-8 are replaced.
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Judge decides whether a change may be made at all. It returns why not in one
// sentence, or nothing. For a symbolic link it is asked again for each path
// where the link lands, with change as it is. Judges are called from one
// goroutine at a time.
type Judge func(path string, change Change) (reason string)

// Held is what a set holds.
type Held struct {
	// ID is "cs-<16 hex>-<8 hex>": the set, and a digest of what is in it,
	// whatever the judge says of it. Programs cannot make up two states of one
	// digest.
	ID string `json:"id"`
	// Files are the changes that can be applied, sorted by path; of one path
	// Deleted comes first. Refused is what cannot be, sorted by path.
	Files   []Change  `json:"files"`
	Refused []Refusal `json:"refused"`
	// OmittedFiles and OmittedRefused count what is beyond [MaxListed] of each.
	OmittedFiles   int `json:"omittedFiles,omitempty"`
	OmittedRefused int `json:"omittedRefused,omitempty"`
}

// Empty reports whether programs changed nothing.
func (h Held) Empty() bool { return len(h.Files) == 0 && len(h.Refused) == 0 }

// MaxListed is how many changes, and how many refusals, are listed at most.
const MaxListed = 10_000

// Outcome is what became of an apply or an undo.
type Outcome struct {
	// Undo is what [Store.Undo] takes to revert it; empty where nothing was
	// applied, or after an undo.
	Undo string `json:"undo,omitempty"`
	// Applied was done. Conflicts were not, since the user's file is another than
	// the programs saw; Refused neither, since it must not or could not be.
	Applied   []Change  `json:"applied"`
	Conflicts []Refusal `json:"conflicts"`
	Refused   []Refusal `json:"refused"`
	// Remaining is what the set holds now, as the same judge sees it; empty after
	// an undo.
	Remaining Held `json:"remaining"`
}

// Info is a set, for people.
type Info struct {
	ID      string    `json:"id"` // as [Held.ID]
	Target  Target    `json:"target"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"` // last
	// Changes counts what is held, by kind, and Refused what could not be
	// applied whatever the rules are.
	Changes map[Kind]int `json:"changes"`
	Refused int          `json:"refused,omitempty"`
	// Running says that programs use the set at the moment.
	Running bool `json:"running,omitempty"`
	// Problem says why the set cannot be read; then what is above is incomplete.
	Problem string `json:"problem,omitempty"`
}

// Applied is one apply that can be undone, or was.
type Applied struct {
	ID      string // "ap-<16 hex>"
	Held    string // the [Held.ID] that was applied
	Target  Target
	When    time.Time
	Changes []Change // what was done, sorted by path
	// Interrupted says that the process ended before all was done that was to be.
	Interrupted bool
	// Undone is when it was undone, as far as that was possible; else zero.
	Undone time.Time
}
