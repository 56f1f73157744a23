//go:build race

package frontmatter

const raceEnabled = true
