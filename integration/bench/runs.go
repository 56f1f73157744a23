package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Sides of programs that are run without us.
const (
	bubblewrap = "bwrap"
	dockerRun  = "docker run"
	dockerExec = "docker exec"
)

// image is the one in which containers run.
const image = "skills-mcp/sandbox:latest"

// rhythm is when one run follows another. It returns what one run took, in
// milliseconds.
type rhythm func(run func() error) (float64, error)

func timed(run func() error) (float64, error) {
	start := time.Now()
	err := run()
	return took(start), err
}

// paused has a server rest before each run.
func paused(run func() error) (float64, error) {
	time.Sleep(time.Second)
	return timed(run)
}

// tenASecond is the median of a second in which there are ten.
func tenASecond(run func() error) (float64, error) {
	var all []float64
	for range 10 {
		time.Sleep(100 * time.Millisecond)
		one, err := timed(run)
		if err != nil {
			return 0, err
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// backToBack is the last of runs without a pause.
func backToBack(run func() error) (float64, error) {
	for range 3 {
		if err := run(); err != nil {
			return 0, err
		}
	}
	return timed(run)
}

// lasting is one of ten runs without a pause, after more than any number that can
// have been ready.
func lasting(run func() error) (float64, error) {
	if _, err := oneOf(6, run); err != nil {
		return 0, err
	}
	return oneOf(10, run)
}

// burst is one of five runs after a pause.
func burst(run func() error) (float64, error) {
	time.Sleep(3 * time.Second)
	return oneOf(5, run)
}

// oneOf is one of some runs, which follow each other at once.
func oneOf(runs int, run func() error) (float64, error) {
	all, err := timed(func() error {
		for range runs {
			if err := run(); err != nil {
				return err
			}
		}
		return nil
	})
	return all / float64(runs), err
}

// executed measures whole calls of exec, with a program that does nothing, beside
// that program in what each sandbox is made of.
func executed(sandbox string, when rhythm) func(*bench) ([]side, error) {
	return func(b *bench) ([]side, error) {
		others, err := b.plainRuns(sandbox)
		if err != nil {
			return nil, err
		}
		dir, err := b.library(100)
		if err != nil {
			return nil, err
		}
		sides, err := b.builds(func(name string, c command) (side, error) {
			s, err := b.opened(c)
			if err != nil {
				return side{}, err
			}
			run := func() error {
				return s.call("exec", map[string]any{"name": skillName(0), "script": "scripts/true.sh"})
			}
			return side{name: name, once: func() (float64, error) { return when(run) }, close: s.close}, nil
		}, "--sandbox="+sandbox, dir)
		return append(sides, others...), err
	}
}

// plainRuns are the same program without us.
func (b *bench) plainRuns(sandbox string) ([]side, error) {
	if sandbox == "local" {
		if _, err := exec.LookPath(bubblewrap); err != nil {
			return nil, errMissing(bubblewrap + " is not installed")
		}
		return []side{plain(bubblewrap, b.bubblewrap()...)}, nil
	}
	if err := exec.CommandContext(b.ctx, "docker", "image", "inspect", image).Run(); err != nil {
		return nil, errMissing("no Docker engine has the image " + image)
	}
	hardened := []string{"--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--entrypoint=sh", image}
	run := append([]string{"docker", "run", "--rm"}, hardened...)
	sides := []side{plain(dockerRun, append(run, "-c", "true")...)}
	if !b.peers {
		return sides, nil
	}
	started := append([]string{"run", "--rm", "--detach", "--init"}, hardened...)
	id, err := exec.CommandContext(b.ctx, "docker", append(started, "-c", "sleep infinity")...).Output()
	if err != nil {
		return nil, err
	}
	container := string(id[:12])
	inside := plain(dockerExec, "docker", "exec", container, "sh", "-c", "true")
	inside.close = func() { _ = exec.Command("docker", "rm", "--force", container).Run() }
	return append(sides, inside), nil
}

func plain(name string, line ...string) side {
	return side{name: name, once: func() (float64, error) {
		return timed(func() error { return exec.Command(line[0], line[1:]...).Run() })
	}}
}

// bubblewrap is a command line with the namespaces and the directories of the
// local sandbox's full tier, but without Landlock, seccomp, limits and the
// capture of output.
func (b *bench) bubblewrap() []string {
	return []string{
		bubblewrap, "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
		"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
		"--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--ro-bind-try", "/etc/ssl/certs", "/etc/ssl/certs",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", b.dir, "/workspace", "--chdir", "/workspace",
		"--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "sh", "-c", "true",
	}
}

// childName is what a child is started as that is to be the inside of a local
// sandbox.
const childName = "skills-mcp-jail"

// childTimeout ends what was no child and became a server.
const childTimeout = 10 * time.Second

// startChild starts this program as a run does, without an order: it ends as soon
// as it sees that there is none.
func (b *bench) startChild(c command) (float64, error) {
	ctx, stop := context.WithTimeout(b.ctx, childTimeout)
	defer stop()
	process := exec.CommandContext(ctx, c.name)
	process.Args, process.Env, process.Dir = []string{childName}, b.environ(), filepath.Dir(b.dir)
	value, err := timed(process.Run)
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err == nil:
		return 0, errors.New("it is no child: nothing was wrong without an order")
	case errors.As(err, &ended):
		return value, nil
	}
	return 0, err
}
