package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// resident measures the memory of a server, in MiB, that has answered a
// whole listing.
func resident(skills int) func(*bench) ([]side, error) {
	return func(b *bench) ([]side, error) {
		if _, err := os.Stat("/proc/self/status"); err != nil {
			return nil, errMissing("there is no /proc to read memory from")
		}
		dir, err := b.library(skills)
		if err != nil {
			return nil, err
		}
		listing := func(method string) func(string, command) (side, error) {
			return func(name string, c command) (side, error) {
				return side{name: name, once: func() (float64, error) { return b.residentOnce(c, method) }}, nil
			}
		}
		sides, err := b.builds(listing("skills/list"), dir)
		if err != nil {
			return nil, err
		}
		for _, peer := range b.stdioPeers(dir) {
			made, _ := listing("resources/list")(peer.name, peer.command)
			sides = append(sides, made)
		}
		return sides, nil
	}
}

var residentLine = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

func (b *bench) residentOnce(c command, method string) (float64, error) {
	s, err := b.opened(c)
	if err != nil {
		return 0, err
	}
	defer s.close()
	if err := s.listAll(method); err != nil {
		return 0, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	said := residentLine.FindSubmatch(status)
	if said == nil {
		return 0, fmt.Errorf("no memory in %s", status)
	}
	kilobytes, err := strconv.Atoi(string(said[1]))
	return float64(kilobytes) / 1024, err
}
