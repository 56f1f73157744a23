// Package testdata gives tests the sample skills: valid ones that are meant
// to be used, invalid ones that are broken in one way each, and hostile ones.
//
// Most of it lies in files beside this package; what git cannot keep (FIFOs,
// sparse files, odd names) is made by [CopyHostile], and masses of skills by
// [Generate]. The package is for tests only. It is left out of ./... because
// of its directory's name, and imported by its path.
package testdata

import (
	"os"
	"path/filepath"
	"runtime"
)

// OutsideMarker stands in a file outside every skill, to which hostile skills
// link. It must never appear in anything that a server answers.
const OutsideMarker = "skills-mcp-outside-marker"

// Dir returns the absolute path of the testdata directory. Where the package
// was built with -trimpath, it is looked for above the working directory,
// which go test sets to the directory of the tested package.
func Dir() string {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Dir(file)
	if filepath.IsAbs(dir) && holdsSkills(dir) {
		return dir
	}
	if above, err := os.Getwd(); err == nil {
		for parent := filepath.Dir(above); ; above, parent = parent, filepath.Dir(parent) {
			if found := filepath.Join(above, "testdata"); holdsSkills(found) {
				return found
			}
			if parent == above {
				break
			}
		}
	}
	return dir
}

func holdsSkills(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "skills", "valid"))
	return err == nil && info.IsDir()
}

// Valid returns the absolute path of the root of the valid skills. All of them
// load without a problem, in strict mode too. Nothing may be written there.
func Valid() string { return filepath.Join(Dir(), "skills", "valid") }

// Invalid returns the absolute path of the root of the skills at fault;
// [InvalidOutcomes] says what is expected of each. Nothing may be written
// there.
func Invalid() string { return filepath.Join(Dir(), "skills", "invalid") }

func hostile() string { return filepath.Join(Dir(), "skills", "hostile") }
