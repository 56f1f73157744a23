package main

import (
	"os"
	"path/filepath"
	"time"
)

// started measures from the start of a server to its answer to initialize.
func started(skills int) func(*bench) ([]side, error) {
	return func(b *bench) ([]side, error) {
		dir, err := b.library(skills)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err != nil {
			return nil, err
		}
		from := func(name string, c command) (side, error) {
			return side{name: name, once: func() (float64, error) { return b.startOnce(c) }}, nil
		}
		sides, err := b.builds(from, dir)
		if err != nil {
			return nil, err
		}
		if skills == 0 {
			return sides, nil
		}
		for _, peer := range b.stdioPeers(dir) {
			made, _ := from(peer.name, peer.command)
			sides = append(sides, made)
		}
		return sides, nil
	}
}

func (b *bench) startOnce(c command) (float64, error) {
	start := time.Now()
	s, err := b.opened(c)
	if err != nil {
		return 0, err
	}
	defer s.close()
	return took(start), nil
}

// child measures what a run starts first: this same program again, which finds
// nothing to do. What it is started as makes it a child, and its input ends.
func child(b *bench) ([]side, error) {
	return b.builds(func(name string, c command) (side, error) {
		return side{name: name, once: func() (float64, error) { return b.startChild(c) }}, nil
	})
}

// savePause is between two saves, so that each is a lone one.
const savePause = 500 * time.Millisecond

// smallLibrary is the side that shows what a save takes where there is little.
const smallLibrary = "100 skills"

// saved measures from an author's save to the notification that lists changed.
func saved(skills int) func(*bench) ([]side, error) {
	return func(b *bench) ([]side, error) {
		dir, err := b.library(skills)
		if err != nil {
			return nil, err
		}
		sides, err := b.builds(b.saver(dir), "--sandbox=off", dir)
		if err != nil || skills == 100 {
			return sides, err
		}
		small, err := b.library(100)
		if err != nil {
			return sides, err
		}
		beside, err := b.saver(small)(smallLibrary, command{b.binary, []string{"--sandbox=off", small}})
		if err != nil {
			return sides, err
		}
		return append(sides, beside), nil
	}
}

// saver returns what makes a side of a server of a library.
func (b *bench) saver(dir string) func(name string, c command) (side, error) {
	return func(name string, c command) (side, error) {
		s, err := b.opened(c)
		if err != nil {
			return side{}, err
		}
		file := filepath.Join(dir, skillName(50), "SKILL.md")
		once := func() (float64, error) {
			time.Sleep(savePause)
			s.drain()
			b.saves++ // of all sides: what another one saved is no change
			start := time.Now()
			if err := rewrite(file, b.saves); err != nil {
				return 0, err
			}
			if err := s.notified("notifications/resources/list_changed"); err != nil {
				return 0, err
			}
			return took(start), nil
		}
		return side{name: name, once: once, close: s.close}, nil
	}
}

// rewrite saves a skill with another description.
func rewrite(file string, n int) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, replaceDescription(old, n), 0o644)
}
