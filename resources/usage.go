package resources

import (
	"os"
	"path"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// Usage tells what disk space a directory takes, in bytes, and how many files
// and directories there are in it, listed or not. It stops where there are
// more than limit, and takes no note of what cannot be looked at.
func (t *Tree) Usage(limit int) (bytes int64, files int) {
	left := []string{"."}
	for len(left) > 0 && files <= limit {
		dir := left[len(left)-1]
		left = left[:len(left)-1]
		t.eachName(dir, func(name string) bool {
			info, err := t.root.Lstat(name)
			if err != nil {
				return true // removed meanwhile
			}
			files++
			bytes += filestat.Space(info)
			if info.IsDir() {
				left = append(left, name)
			}
			return files <= limit
		})
	}
	return bytes, files
}

// eachName visits what is in a directory until visit gives false.
func (t *Tree) eachName(dir string, visit func(name string) bool) {
	opened, err := t.root.OpenFile(dir, os.O_RDONLY|openFlags|openDirectory, 0)
	if err != nil {
		return
	}
	defer opened.Close()
	for {
		names, err := opened.Readdirnames(1024)
		for _, name := range names {
			if !visit(path.Join(dir, name)) {
				return
			}
		}
		if err != nil || len(names) == 0 { // io.EOF, or nothing more to be had
			return
		}
	}
}
