package escape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

const (
	// plenty is more memory than any address space, so that a limit does not keep
	// the probe from starting: the race detector alone takes terabytes.
	plenty = 1 << 46
	// batchPatience bounds many attempts, some of which wait for others.
	batchPatience = 10 * time.Minute
)

// Try makes every attempt, first in a plain subprocess and then in each of the
// backends. It returns the outcomes by attempt, in the order of the backends.
// An attempt that does not succeed without a sandbox, though it should, is an
// error.
func Try(t *testing.T, backends ...sandbox.Backend) map[string][]Outcome {
	t.Helper()
	return newScene(t).try(t, control(), allAttempts(), backends)
}

// try makes attempts, first in a plain subprocess and then in each of the
// backends, where the control must succeed too.
func (s *scene) try(t *testing.T, control Attempt, attempts []Attempt, backends []sandbox.Backend) map[string][]Outcome {
	t.Helper()
	outcomes := make(map[string][]Outcome)
	for _, batch := range batches(control, attempts) {
		bare := s.bare(t, batch)
		for i, attempt := range batch {
			if !bare[i].open && !attempt.Rare && (!attempt.Root || os.Geteuid() == 0) {
				t.Errorf("%s does not succeed without a sandbox, and shows nothing: %s", attempt.Name, bare[i].said)
			}
		}
		for _, backend := range backends {
			contained := s.contained(t, backend, batch)
			for i, attempt := range batch {
				outcome := NotShown
				switch {
				case attempt.Name == control.Name && !contained[i].open:
					t.Fatalf("the probe does not work in the tier %q, so that nothing can be shown: %s", backend.Info().Tier, contained[i].said)
				case bare[i].open && contained[i].open:
					outcome = Open
				case bare[i].open:
					outcome = Blocked
				}
				outcomes[attempt.Name] = append(outcomes[attempt.Name], outcome)
			}
		}
	}
	delete(outcomes, control.Name)
	return outcomes
}

// batches returns the attempts, and the control before them, in the order in
// which they are made: first those that one process can make after each other.
// That they do not disturb each other is shown without a sandbox, where all
// succeed.
func batches(control Attempt, attempts []Attempt) [][]Attempt {
	all := [][]Attempt{{control}}
	for _, attempt := range attempts {
		if attempt.Alone || attempt.Limits != (sandbox.Limits{}) {
			all = append(all, []Attempt{attempt})
		} else {
			all[0] = append(all[0], attempt)
		}
	}
	return all
}

// ending is how an attempt ended: with an exit code, which is 0 where it
// succeeded by itself, and what it said.
type ending struct {
	Code int
	Said string
}

// verdict says whether an attempt succeeded, and what it said.
type verdict struct {
	open bool
	said string
}

// bare makes attempts in a plain subprocess.
func (s *scene) bare(t *testing.T, batch []Attempt) []verdict {
	t.Helper()
	s.libraryAt = ""
	victims, spec := s.stage(t, batch, "", os.Geteuid() == 0)
	arguments := append([]string{filepath.Join(s.skill, spec.Script)}, spec.Args...)
	if spec.Shell != "" {
		arguments = shell(spec.Shell)
	}
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir = s.workspace
	if spec.InProject {
		command.Dir = spec.Shares[0].Path
	}
	command.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SKILL_DIR=" + s.skill}
	for name, value := range spec.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(spec.Stdin), &stdout, &stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := command.Run()
	if command.Process != nil {
		syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // nothing may be left
	}
	s.mend(t)
	code := -1
	if err == nil {
		code = exitOpen
	}
	return judge(t, batch, victims, code, stdout.Bytes(), fmt.Sprintf("%v: %s", err, stderr.Bytes()), true)
}

// contained makes attempts in a sandbox.
func (s *scene) contained(t *testing.T, backend sandbox.Backend, batch []Attempt) []verdict {
	t.Helper()
	proxy, library := "", backend.Info().Library
	s.libraryAt = cmp.Or(library, nowhere)
	if s.granted && backend.Info().Egress {
		proxy = sandbox.ProxyAddress
	}
	victims, spec := s.stage(t, batch, proxy, false)
	if library == "" { // it would be refused
		spec.Library = ""
	}
	result, err := backend.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("%s: %v", batch[0].Name, err)
	}
	s.mend(t)
	if spec.InProject && result.Shared[0].Access != sandbox.AccessReview {
		t.Errorf("%s: the project is shared as %+v", batch[0].Name, result.Shared[0])
	}
	code := -1
	if result.Status == sandbox.Exited {
		code = result.ExitCode
	}
	said := fmt.Sprintf("%s, exit code %d: %s", result.Status, result.ExitCode, result.Stderr.Data)
	return judge(t, batch, victims, code, result.Stdout.Data, said, false)
}

// judge returns what became of attempts, by how their process ended and by
// what can be seen of them. Without a sandbox it takes both.
func judge(t *testing.T, batch []Attempt, victims []Victims, code int, stdout []byte, said string, bare bool) []verdict {
	t.Helper()
	endings := []ending{{code, said + string(stdout)}}
	if together(batch) {
		endings = nil
		if err := json.Unmarshal(stdout, &endings); code != exitOpen || err != nil || len(endings) != len(batch) {
			t.Fatalf("%d attempts ended with %d endings: %v: %s %s", len(batch), len(endings), err, said, stdout)
		}
	}
	verdicts := make([]verdict, len(batch))
	for i, attempt := range batch {
		open := endings[i].Code == exitOpen
		if attempt.Done != nil {
			done := attempt.Done(victims[i])
			open = done && (open || !bare)
		}
		verdicts[i] = verdict{open, endings[i].Said}
	}
	return verdicts
}

// together reports whether attempts are made by one process, a probe.
func together(batch []Attempt) bool { return len(batch) > 1 }

// shell returns the command that runs a program of a shell.
func shell(program string) []string {
	return []string{"bash", "--noprofile", "--norc", "-c", program}
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// environ is what attempts in shell know.
func (v Victims) environ() map[string]string {
	return map[string]string{
		"VICTIM":     v.Dir,
		"LIBRARY":    v.Library,
		"VICTIM_PID": strconv.Itoa(v.PID),
		"VICTIM_TCP": strconv.Itoa(v.TCP),
	}
}
