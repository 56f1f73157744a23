package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// description is the line that a save changes.
var description = regexp.MustCompile(`(?m)^description: .*$`)

func replaceDescription(text []byte, n int) []byte {
	return description.ReplaceAll(text, fmt.Appendf(nil, "description: Counts what was saved in %d. Use when somebody asks for save %d of %d.", n, n, os.Getpid()))
}

// found measures a search.
func found(skills int) func(*bench) ([]side, error) {
	return func(b *bench) ([]side, error) {
		dir, err := b.library(skills)
		if err != nil {
			return nil, err
		}
		return b.builds(func(name string, c command) (side, error) {
			s, err := b.opened(c)
			if err != nil {
				return side{}, err
			}
			n := 0
			once := func() (float64, error) {
				n++
				query := strings.ToLower(verbs[n%len(verbs)]) + " the " + subjects[n/3%len(subjects)] + " in " + places[n%len(places)]
				start := time.Now()
				err := s.call("findSkills", map[string]any{"query": query})
				return took(start), err
			}
			return side{name: name, once: once, close: s.close}, nil
		}, "--sandbox=off", dir)
	}
}

// relevance says how often a search finds the right skill, as the test of the
// labelled queries does; nothing outside the sources.
func (b *bench) relevance() (string, error) {
	const room = "./server/internal/search"
	if _, err := os.Stat(room); err != nil || !b.only.MatchString("findSkills") {
		return "", nil
	}
	out, err := exec.CommandContext(b.ctx, "go", "test", "-count=1", "-v", "-run", "^TestRelevance$", room).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	said := regexp.MustCompile(`of (\d+) queries \d+ find the right skill first \(([\d.]+)\), \d+ among five \(([\d.]+)\)`).FindSubmatch(out)
	if said == nil {
		return "", fmt.Errorf("the test says nothing of relevance: %s", out)
	}
	return fmt.Sprintf("Of %s labelled queries over the samples and 200 skills, `findSkills` has the right skill first with precision at 1 of %s, and recall at 5 of %s.", said[1], said[2], said[3]), nil
}
