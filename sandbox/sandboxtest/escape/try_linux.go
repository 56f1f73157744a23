package escape

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// plenty is more memory than any address space, so that a limit does not keep
// the probe from starting: the race detector alone takes terabytes.
const plenty = 1 << 46

// Try makes every attempt, first in a plain subprocess and then in each of the
// backends. It returns the outcomes by attempt, in the order of the backends.
// An attempt that does not succeed without a sandbox, though it should, is an
// error.
func Try(t *testing.T, backends ...sandbox.Backend) map[string][]Outcome {
	t.Helper()
	return TryPart(t, 0, 1, backends...)
}

// TryPart is [Try] for one of several parts of the attempts, the first of which is
// 0. They can be made at the same time.
func TryPart(t *testing.T, part, parts int, backends ...sandbox.Backend) map[string][]Outcome {
	t.Helper()
	s := newScene(t)
	for _, backend := range backends {
		if ok, said := s.contained(t, backend, control()); !ok {
			t.Fatalf("the probe does not work in the tier %q, so that nothing can be shown: %s", backend.Info().Tier, said)
		}
	}
	var attempts []Attempt
	for i, attempt := range Attempts() {
		if i%parts == part {
			attempts = append(attempts, attempt)
		}
	}
	return s.try(t, attempts, backends)
}

// try makes attempts, first in a plain subprocess and then in each of the
// backends.
func (s *scene) try(t *testing.T, attempts []Attempt, backends []sandbox.Backend) map[string][]Outcome {
	t.Helper()
	outcomes := make(map[string][]Outcome)
	for _, attempt := range attempts {
		shown, said := s.bare(t, attempt)
		if !shown && !attempt.Rare && (!attempt.Root || os.Geteuid() == 0) {
			t.Errorf("%s does not succeed without a sandbox, and shows nothing: %s", attempt.Name, said)
		}
		for _, backend := range backends {
			outcome := NotShown
			if shown {
				outcome = Blocked
				if open, _ := s.contained(t, backend, attempt); open {
					outcome = Open
				}
			}
			outcomes[attempt.Name] = append(outcomes[attempt.Name], outcome)
		}
	}
	return outcomes
}

// bare makes an attempt in a plain subprocess.
func (s *scene) bare(t *testing.T, attempt Attempt) (open bool, said string) {
	t.Helper()
	victims, shares := s.stage(t)
	command := exec.Command(filepath.Join(s.skill, probeName), attempt.Name, encode(t, victims))
	if attempt.Shell != "" {
		command = exec.Command("bash", "--noprofile", "--norc", "-c", attempt.Shell)
	}
	command.Dir = s.workspace
	if len(shares) > 0 {
		command.Dir = shares[0].Path
	}
	command.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SKILL_DIR=" + s.skill}
	for name, value := range victims.environ() {
		command.Env = append(command.Env, name+"="+value)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if attempt.Apart && os.Geteuid() == 0 {
		command.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
	out, err := command.CombinedOutput()
	if command.Process != nil {
		syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // nothing may be left
	}
	s.mend(t)
	return err == nil && (attempt.Done == nil || attempt.Done(victims)), fmt.Sprintf("%v: %s", err, out)
}

// contained makes an attempt in a sandbox.
func (s *scene) contained(t *testing.T, backend sandbox.Backend, attempt Attempt) (open bool, said string) {
	t.Helper()
	victims, shares := s.stage(t)
	if s.granted && backend.Info().Egress {
		victims.Proxy = sandbox.ProxyAddress
	}
	spec := sandbox.Spec{
		Shares: shares, Project: len(shares) > 0, InProject: len(shares) > 0,
		SkillDir:  s.skill,
		Workspace: s.workspace,
		Shell:     attempt.Shell,
		Env:       victims.environ(),
		Limits:    attempt.Limits,
	}
	if attempt.Shell == "" {
		spec.Script, spec.Args = probeName, []string{attempt.Name, encode(t, victims)}
	}
	if s.granted {
		spec.Egress, spec.Show, spec.Path = closing{}, []string{victims.shown()}, []string{victims.shown()}
	}
	if spec.Limits.MemoryBytes == 0 {
		spec.Limits.MemoryBytes = plenty
	}
	result, err := backend.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("%s: %v", attempt.Name, err)
	}
	s.mend(t)
	if len(shares) > 0 && result.Shared[0].Access != sandbox.AccessReview {
		t.Errorf("%s: the project is shared as %+v", attempt.Name, result.Shared[0])
	}
	if attempt.Done != nil && attempt.Done(victims) {
		return true, ""
	}
	said = fmt.Sprintf("%s, exit code %d: %s%s", result.Status, result.ExitCode, result.Stdout.Data, result.Stderr.Data)
	return attempt.Done == nil && result.Status == sandbox.Exited && result.ExitCode == exitOpen, said
}

func encode(t *testing.T, victims Victims) string {
	t.Helper()
	text, err := json.Marshal(victims)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// environ is what attempts in shell know.
func (v Victims) environ() map[string]string {
	return map[string]string{
		"VICTIM":     v.Dir,
		"VICTIM_PID": strconv.Itoa(v.PID),
		"VICTIM_TCP": strconv.Itoa(v.TCP),
	}
}
