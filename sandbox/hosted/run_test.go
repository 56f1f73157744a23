package hosted_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/anthropic/anthropictest"
	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/hosted"
)

// requests of a stand-in that begin with a text.
func requests(api *anthropictest.Server, prefix string) (n int) {
	for _, request := range api.Requests() {
		if strings.HasPrefix(request, prefix) {
			n++
		}
	}
	return n
}

// Nobody takes this backend for one of this machine.
func TestInfo(t *testing.T) {
	t.Parallel()
	backend := open(t)
	defer backend.Close()
	info := backend.Info()
	if info.Backend != "hosted" || info.Tier != "somebody else's" || !info.Costly || info.Egress || info.Network || info.Library != "" ||
		!strings.Contains(info.Notice, "costs tokens") || !strings.Contains(info.Notice, "nothing here can kill") {
		t.Errorf("%+v", info)
	}
	if _, err := hosted.New(hosted.Options{}); err == nil || !strings.Contains(err.Error(), "hosted.model") {
		t.Errorf("without a model: %v", err)
	}
}

// What is sent is a skill, the files of the workspace, and a command that is short,
// whatever runs. What did not change is not sent again, and nothing is left.
func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	var commands []string
	api.Behave(func(command string) steps {
		commands = append(commands, command)
		return anthropictest.Obedient(command)
	})
	backend := openAt(t, api, nil)
	skill := testfiles.Dir(t, map[string]string{"scripts/sum.sh": "echo \"$1\" > sum; cat data"})
	spec := sandbox.Spec{
		SkillDir: skill, Script: "scripts/sum.sh", Args: []string{strings.Repeat("long ", 10_000)},
		Workspace: testfiles.Dir(t, map[string]string{"data": "1"}),
	}
	for i := range 3 {
		result, err := backend.Run(t.Context(), spec)
		if err != nil || result.ExitCode != 0 || string(result.Stdout.Data) != "1" {
			t.Fatalf("%+v, %v", result, err)
		}
		if uploads := requests(api, "POST /v1/files"); uploads != []int{2, 2, 1}[i] {
			t.Errorf("run %d: %d uploads", i, uploads)
		}
		if i == 0 {
			spec.Script, spec.Args, spec.Shell = "", nil, "cat data" // which changes nothing
		}
	}
	if len(commands[0]) > 200 || len(commands[0]) != len(commands[1]) || commands[0] == commands[1] {
		t.Errorf("the commands are %q", commands)
	}
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
	for _, file := range api.Filenames() {
		t.Errorf("%s is left with the API", file)
	}
	if api.Containers() != 3 {
		t.Errorf("there were %d containers for 3 runs", api.Containers())
	}
}

// A container that has another skill, or other files, than were sent runs nothing.
func TestSkillIsWhatWasSent(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	backend := openAt(t, api, nil)
	defer backend.Close()
	skill := testfiles.Dir(t, map[string]string{"run.sh": "echo genuine"})
	spec := sandbox.Spec{SkillDir: skill, Script: "run.sh", Workspace: t.TempDir()}
	api.Tamper(func(name string, data []byte) []byte {
		return bytes.ReplaceAll(data, []byte("genuine"), []byte("tampered"))
	})
	_, err := backend.Run(t.Context(), spec)
	if err == nil || !strings.Contains(err.Error(), "does not have the files that were sent") {
		t.Errorf("%v", err)
	}
	api.Tamper(nil)
	if result, err := backend.Run(t.Context(), spec); err != nil || string(result.Stdout.Data) != "genuine\n" {
		t.Errorf("%+v, %v", result, err)
	}
}

// A secret of the user is in nothing that is sent, and the key in nothing but the
// headers of requests.
func TestSecretsAreNotSent(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	var log bytes.Buffer
	backend := openAt(t, api, slog.NewTextHandler(&log, nil))
	secrets := new(redact.Set)
	secrets.Add("TOKEN", "hunter2-hunter2")
	for name, spec := range map[string]sandbox.Spec{
		"a variable":  {Shell: "true", Env: map[string]string{"TOKEN": "hunter2-hunter2"}},
		"a command":   {Shell: "echo hunter2-hunter2"},
		"an argument": {Argv: []string{"echo", "x", "a hunter2-hunter2"}},
		"the input":   {Shell: "cat", Stdin: []byte("hunter2-hunter2")},
	} {
		spec.Workspace, spec.Redact = t.TempDir(), secrets.Writer
		_, err := backend.Run(t.Context(), spec)
		setup, ok := errors.AsType[*sandbox.SetupError](err)
		if !ok || setup.Rule != "secret-refused" || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent := api.Requests(); len(sent) > 0 {
		t.Errorf("sent is %q", sent)
	}
	result, err := backend.Run(t.Context(), sandbox.Spec{
		Shell: "env; cat /proc/$PPID/environ /proc/$PPID/cmdline; cat \"$(dirname \"$HOME\")\"/../../inputs/*", Workspace: t.TempDir(), Redact: secrets.Writer,
	})
	if err != nil || len(result.Stdout.Data) == 0 || bytes.Contains(result.Stdout.Data, []byte(anthropictest.Key)) {
		t.Errorf("%v, %q", err, result.Stdout.Data)
	}
	if err := backend.Close(); err != nil || strings.Contains(log.String(), anthropictest.Key) || !strings.Contains(log.String(), "inputTokens=1000 outputTokens=100") {
		t.Errorf("%v, the log is %s", err, log.String())
	}
}

// What is granted of this machine is refused, and nothing is sent.
func TestGrantsAreRefused(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	backend := openAt(t, api, nil)
	defer backend.Close()
	dir := testfiles.Dir(t, map[string]string{"lib": "x"})
	for name, spec := range map[string]sandbox.Spec{
		"show": {Show: []string{dir}}, "path": {Path: []string{dir}}, "library": {Library: dir},
	} {
		spec.Workspace, spec.Shell = t.TempDir(), "true"
		_, err := backend.Run(t.Context(), spec)
		setup, ok := errors.AsType[*sandbox.SetupError](err)
		if !ok || !strings.HasSuffix(setup.Rule, "-refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent := api.Requests(); len(sent) > 0 {
		t.Errorf("sent is %q", sent)
	}
	share := sandbox.Share{Path: dir, Layers: []string{dir}, Access: sandbox.AccessRead}
	result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "ls " + dir, Workspace: t.TempDir(), Shares: []sandbox.Share{share}})
	if err != nil || len(result.Shared) != 1 || result.Shared[0].Access != sandbox.AccessOff || result.Shared[0].Reason == "" {
		t.Errorf("%+v, %v", result, err)
	}
}

// A run that is canceled is not waited for. That it goes on in the container is said
// in the backend's notice.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel func(), backend sandbox.Backend){
		"cancel": func(cancel func(), _ sandbox.Backend) { cancel() },
		"close":  func(_ func(), backend sandbox.Backend) { backend.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := anthropictest.New(t)
			hold := make(chan struct{})
			defer close(hold)
			backend := openAt(t, api, nil)
			ctx, cancel := context.WithCancel(t.Context())
			var done sync.WaitGroup
			defer done.Wait()
			api.Behave(func(command string) steps {
				done.Go(func() { end(cancel, backend) })
				return steps{{Hold: hold}, {Run: command}}
			})
			result, err := backend.Run(ctx, sandbox.Spec{Shell: "echo x > made", Workspace: t.TempDir()})
			if err != nil || result.Status != sandbox.Canceled || len(result.Artifacts) > 0 || !result.ChangesLost || !strings.Contains(result.Reason, "may go on") {
				t.Errorf("%+v, %v", result, err)
			}
			if _, err := backend.Run(ctx, sandbox.Spec{Shell: "true", Workspace: t.TempDir()}); name == "close" && !errors.Is(err, sandbox.ErrUnavailable) {
				t.Errorf("after Close: %v", err)
			}
			cancel()
			backend.Close()
		})
	}
}

// Where the server cannot be reached nothing has run, and no address is told.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	api, stop := anthropictest.Start()
	backend := openAt(t, api, nil)
	defer backend.Close()
	stop()
	_, err := backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: t.TempDir()})
	setup, ok := errors.AsType[*sandbox.SetupError](err)
	if !ok || setup.Rule != "hosted-refused" || strings.Contains(setup.Message+setup.Hint, "127.0.0.1") || !strings.Contains(setup.Hint, "reached") {
		t.Errorf("%+v", setup)
	}
}

// No process of a run outlives it in the container, nor does anything else of it.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	backend := open(t)
	defer backend.Close()
	for _, end := range []string{"exit 5", "sleep 1000"} {
		result, err := backend.Run(t.Context(), sandbox.Spec{
			Workspace: t.TempDir(), Limits: sandbox.Limits{Timeout: 1e9},
			Shell: `dirname "$HOME"; (setsid sh -c 'setsid sh -c "echo \$\$ > pid; exec sleep 1000" &' &); until [ -s pid ]; do sleep 0.01; done; cat pid; ` + end,
		})
		lines := strings.Fields(string(result.Stdout.Data))
		if err != nil || len(lines) != 2 || (end == "exit 5") != (result.ExitCode == 5) || (end != "exit 5") != (result.Status == sandbox.TimedOut) {
			t.Fatalf("%+v, %v", result, err)
		}
		if _, err := os.Stat(filepath.Join("/proc", lines[1])); err == nil {
			t.Errorf("after %q, process %s lives", end, lines[1])
		}
		if _, err := os.Stat(lines[0]); err == nil {
			t.Errorf("after %q, %s is there", end, lines[0])
		}
	}
}

// The reasons for which cases of the contract are left out are in the documentation.
func TestExclusionsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/hosted.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, because := range exclusions {
		at := slices.IndexFunc(strings.Split(string(page), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "| `") && strings.HasSuffix(line, " | "+because.reason+" |")
		})
		if at < 0 {
			t.Errorf("docs/hosted.md does not have: %s", because.reason)
			continue
		}
		documented := strings.Split(strings.Split(string(page), "\n")[at], "`")
		for _, name := range because.cases {
			if !slices.ContainsFunc(documented, func(text string) bool {
				family, all := strings.CutSuffix(text, "…")
				return text == name || all && strings.HasPrefix(name, family)
			}) {
				t.Errorf("docs/hosted.md does not have %s among those that are left out since %s", name, because.reason)
			}
		}
	}
}
