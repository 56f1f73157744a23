//go:build !race

package frontmatter

const raceEnabled = false
