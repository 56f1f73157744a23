package docker

import (
	"os"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// checkShow reports what keeps something from being shown to a run. It may be large,
// so it is not copied. Errors are of type [sandbox.SetupError].
func (b *Backend) checkShow(spec sandbox.Spec) error {
	for _, name := range spec.Show {
		if b.copying {
			return process.RefusedShow("the engine shares no directories with this machine")
		}
		if reason := unshowable(name, b.engine.Binds); reason != "" {
			return process.RefusedShow(strings.ToLower(reason[:1]) + reason[1:])
		}
	}
	return nil
}

// show returns how what is shown is mounted. Directories are covered, if they can
// be, by an overlay, whose files are the run's own: locks on them are none on the
// others, and who listens at a socket or a pipe there is not reached.
func show(spec sandbox.Spec, by sharing, user string) (covers []overlay, binds []engine.Bind) {
	shown := libraryOf(spec)
	for _, name := range spec.Show {
		shown = append(shown, engine.Bind{Source: name, Target: name, ReadOnly: true})
	}
	for _, bind := range shown {
		if info, err := os.Stat(bind.Source); by.covered && err == nil && info.IsDir() {
			covers = append(covers, overlay{target: bind.Target, layers: []string{bind.Source}, user: user})
			continue
		}
		binds = append(binds, bind)
	}
	return covers, binds
}

// libraryOf returns the directory of all skills of a run, if it has one.
func libraryOf(spec sandbox.Spec) []engine.Bind {
	if spec.Library == "" {
		return nil
	}
	return []engine.Bind{{Source: spec.Library, Target: sandbox.LibraryDir, ReadOnly: true}}
}

// showsProgram reports whether a program is in what is shown, by its path, and
// within whether it would have to be. What links lead to is found out when it is
// started: it may be in the image.
func showsProgram(show []string, program string) (has, within bool) {
	for _, name := range show {
		if !pathname.Within(program, name) {
			continue
		}
		info, err := os.Lstat(program)
		if err != nil || info.IsDir() {
			return false, true
		}
		return !info.Mode().IsRegular() || info.Mode().Perm()&0o111 != 0, true
	}
	return false, false
}
