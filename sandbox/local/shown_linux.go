//go:build amd64 || arm64

package local

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
)

// list returns the paths of what is shown besides the system's.
func (l *layout) list() (names []string) {
	for _, mount := range l.shared {
		names = append(names, mount.Target)
	}
	slices.Sort(names)
	return names
}

// log says what is shown, and what not that might have been.
func (l *layout) log(log *slog.Logger) {
	for _, name := range l.list() {
		log.Debug("programs see", "path", name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.hidden)) {
		level := slog.LevelDebug
		if slices.Contains(l.show, name) || isEnvironment(name) {
			level = slog.LevelWarn // it was asked for
		}
		log.Log(context.Background(), level, "programs do not see", "path", name, "reason", l.hidden[name])
	}
}

// showNamed shows a file or directory that the operator named.
func (l *layout) showNamed(name string) {
	real, links, err := follow(name)
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(real)
	}
	if err == nil && !l.readable(info) {
		err = os.ErrPermission
	}
	if err == nil {
		err = l.reachable(real)
	}
	if err != nil {
		l.hidden[name] = err
		return
	}
	l.share(real)
	l.links = append(l.links, links...)
}
