package escape

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// nowhere is where programs find a library that cannot be shown.
const nowhere = "/nowhere"

// furnishLibrary makes a library that has a skill for each of the attempts, and
// what is beside it, and says where they find it: at a path in the sandbox, or where
// it is if that is empty.
func furnishLibrary(t *testing.T, victims []Victims, at string) (library string) {
	t.Helper()
	above := t.TempDir()
	library = filepath.Join(above, "library")
	err := errors.Join(os.Mkdir(library, 0o755), os.WriteFile(filepath.Join(above, "secret"), []byte(secret), 0o644))
	for i := range victims {
		v := &victims[i]
		v.Skill = filepath.Join(library, strconv.Itoa(i))
		v.Library = v.Skill
		if at != "" {
			v.Library = filepath.Join(at, strconv.Itoa(i))
		}
		err = errors.Join(err,
			os.MkdirAll(filepath.Join(v.Skill, "deep"), 0o755),
			os.WriteFile(filepath.Join(v.Skill, "file"), []byte(untouched), 0o644),
			os.WriteFile(filepath.Join(v.Skill, "deep", "file"), []byte(untouched), 0o644),
			os.Symlink("../../secret", filepath.Join(v.Skill, "link")))
		openLocked(t, filepath.Join(v.Skill, "file"), os.O_RDONLY)
	}
	if err != nil {
		t.Fatal(err)
	}
	return library
}

// libraryAttempts are made on a skill of [sandbox.Spec.Library].
func libraryAttempts() []Attempt {
	in := func(name string, try func(name string) error) func(Victims) error {
		return func(v Victims) error { return try(filepath.Join(v.Library, name)) }
	}
	attempts := []Attempt{
		{Name: "write-in-library", Shell: `echo x > "$LIBRARY/file"`},
		{Name: "create-in-library", Shell: `: > "$LIBRARY/deep/new"`},
		{Name: "move-into-library", Shell: `echo x > own && mv own "$LIBRARY/file"`},
		{Name: "remove-from-library", Shell: `rm -f "$LIBRARY/file"`},
		{Name: "rename-in-library", Shell: `mv "$LIBRARY/file" "$LIBRARY/new"`},
		{Name: "rename-skill-of-library", Shell: `mv "$LIBRARY" "$LIBRARY.moved"`},
		{Name: "replace-skill-of-library", Shell: `mv "$LIBRARY" "$LIBRARY.moved" && ln -s "$PWD" "$LIBRARY"`},
		{Name: "change-mode-in-library", Shell: `chmod 600 "$LIBRARY/file"`},
		{Name: "change-times-in-library", Shell: `touch -d 2000-01-01 "$LIBRARY/file"`},
		{Name: "change-owner-in-library", Try: in("file", func(name string) error { return os.Chown(name, 12345, 12345) }), Root: true},
		{Name: "write-in-library-by-hard-link", Shell: `ln "$LIBRARY/file" hard && echo x > hard`},
		{Name: "write-in-library-by-proc-root", Shell: `echo x > "/proc/self/root$LIBRARY/file"`},
		{Name: "write-in-library-by-opening-again", Shell: `exec 3< "$LIBRARY/file" && echo x > /proc/self/fd/3`},
		{Name: "write-in-library-by-handle", Try: in("file", writeByHandle), Root: true},
		{Name: "mount-writable-over-library", Try: in("file", remount), Root: true},
		{Name: "read-beside-library", Shell: `grep -q secret "$LIBRARY/../../secret"`},
		{Name: "read-beside-library-by-its-link", Shell: `grep -q secret "$LIBRARY/link"`},
		{Name: "watch-library", Try: in("", watch)},
		{Name: "share-lock-of-library", Try: in("file", sharesLock)},
		{Name: "leave-set-user-id-in-library", Shell: `cp /bin/true "$LIBRARY/deep/new" && chmod 4755 "$LIBRARY/deep/new"`},
	}
	for i, attempt := range attempts {
		if !slices.Contains(readsLibrary, attempt.Name) {
			attempts[i].Done = func(v Victims) bool { return changed(v.Skill, 3) }
		}
	}
	return attempts
}

// readsLibrary are attempts that succeed by what they learn, or by what is in the
// way of others.
var readsLibrary = []string{"read-beside-library", "read-beside-library-by-its-link", "watch-library", "share-lock-of-library"}
