package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// idleSettle is how long a server has to come to rest, and idleTime how long it
	// is then looked at.
	idleSettle, idleTime = 3 * time.Second, 5 * time.Second
)

// idle measures the processor time, in milliseconds a minute, of a server that has
// listed its skills, watches them, and is asked nothing.
func idle(skills int) func(*bench) ([]side, error) {
	return func(b *bench) ([]side, error) {
		if _, err := os.Stat("/proc/self/schedstat"); err != nil {
			return nil, errMissing("there is no /proc to read processor times from")
		}
		// The kernel tells of all that happens in the directories that lead to the
		// skills, so that others at work on temporary files would be measured.
		quiet := *b
		quiet.libraries = map[int]string{}
		var err error
		if quiet.dir, err = os.MkdirTemp(filepath.Dir(b.binary), ".idle-"); err != nil {
			return nil, err
		}
		remove := func() { _ = os.RemoveAll(quiet.dir) }
		dir, err := quiet.library(skills)
		if err != nil {
			remove()
			return nil, err
		}
		sides, err := b.builds(quiet.resting, dir)
		if len(sides) == 0 {
			remove()
			return nil, err
		}
		last := &sides[len(sides)-1]
		end := last.close
		last.close = func() {
			end()
			remove()
		}
		return sides, err
	}
}

// resting returns a side whose server has come to rest.
func (b *bench) resting(name string, c command) (side, error) {
	s, err := b.opened(c)
	if err != nil {
		return side{}, err
	}
	if err := s.listAll("skills/list"); err != nil {
		s.close()
		return side{}, err
	}
	time.Sleep(idleSettle)
	return side{name: name, close: s.close, once: func() (float64, error) {
		before, err := processorTime(s.process.Process.Pid)
		if err != nil {
			return 0, err
		}
		time.Sleep(idleTime)
		after, err := processorTime(s.process.Process.Pid)
		return float64(after-before) / float64(time.Millisecond) * float64(time.Minute/idleTime), err
	}}, nil
}

// processorTime returns what all threads of a process have run. One that ended
// meanwhile is left out.
func processorTime(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("process %d has no threads", pid)
	}
	var all time.Duration
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue
		}
		ran, _, _ := strings.Cut(string(text), " ")
		nanoseconds, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, err
		}
		all += time.Duration(nanoseconds)
	}
	return all, nil
}
