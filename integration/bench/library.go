package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The skills of a library are made of these, by a generator with a fixed seed.
var (
	verbs    = []string{"Extracts", "Translates", "Compares", "Summarises", "Schedules", "Validates", "Charts", "Archives", "Anonymises", "Publishes"}
	subjects = []string{"invoices", "contracts", "recipes", "podcasts", "photos", "maps", "calendars", "budgets", "surveys", "patents"}
	places   = []string{"Lisbon", "Nairobi", "Osaka", "Kraków", "Quito", "Tromsø", "Hội An"}
	advice   = []string{
		"Read the whole request before the first step.", "Ask where an amount has no currency.",
		"Keep the order of what was given.", "Say which page a number is from.", "Leave dates as they are written.",
	}
)

// settleTime is how long ago a library was made when it is first used, at least.
const settleTime = 3 * time.Second

// skillName is the name of a library's skill of that number.
func skillName(i int) string { return fmt.Sprintf("skill-%05d", i) }

// library returns a directory of n skills, each with its SKILL.md, some with a
// reference, and the first with a script.
func (b *bench) library(n int) (string, error) {
	if dir, ok := b.libraries[n]; ok {
		return dir, nil
	}
	dir := filepath.Join(b.dir, fmt.Sprintf("skills-%d", n))
	random := rand.New(rand.NewPCG(uint64(n), 13))
	for i := range n {
		if err := writeSkill(dir, i, describe(random), random); err != nil {
			return "", err
		}
	}
	script := filepath.Join(dir, skillName(0), "scripts", "true.sh")
	if err := write(script, "#!/bin/sh\ntrue\n", 0o755); err != nil {
		return "", err
	}
	// Of a file that was just written, times do not tell whether it changes again.
	time.Sleep(settleTime)
	b.libraries[n] = dir
	return dir, nil
}

// describe makes a description.
func describe(random *rand.Rand) string {
	pick := func(of []string) string { return of[random.IntN(len(of))] }
	subject, place := pick(subjects), pick(places)
	return fmt.Sprintf("%s %s for the office in %s. Use when somebody there asks about %s, or about case %d.",
		pick(verbs), subject, place, subject, random.IntN(1000))
}

func writeSkill(dir string, i int, description string, random *rand.Rand) error {
	var body strings.Builder
	fmt.Fprintf(&body, "---\nname: %s\ndescription: %s\n---\n\n# Skill %d\n\n", skillName(i), description, i)
	for range 20 {
		fmt.Fprintf(&body, "- %s\n", advice[random.IntN(len(advice))])
	}
	if i%4 == 0 {
		if err := write(filepath.Join(dir, skillName(i), "references", "cases.md"), body.String(), 0o644); err != nil {
			return err
		}
	}
	return write(filepath.Join(dir, skillName(i), "SKILL.md"), body.String(), 0o644)
}

func write(path, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}
