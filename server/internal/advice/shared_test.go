package advice_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/server/internal/advice"
)

// TestHiddenFilesAreTold: a program that failed for want of a hidden file is told
// that it is hidden, and one that failed otherwise is not.
func TestHiddenFilesAreTold(t *testing.T) {
	t.Parallel()
	hidden := []project.Masked{
		{Path: ".env", Reason: "holds secrets of an environment"},
		{Path: ".git/config", Reason: "is shown without credentials", Replaced: true},
		{Path: "deploy/id_rsa", Reason: "is a private key"},
		{Path: "sub/.env", Reason: "holds secrets of an environment"},
	}
	for output, want := range map[string]string{
		"cat: .env: No such file or directory":                       ".env and sub/.env are hidden from programs on purpose",
		"Error: ENOENT: no such file or directory, open '/p/.env'":   ".env and sub/.env are hidden",
		"could not load .env.":                                       ".env and sub/.env are hidden",
		"load key \"deploy/id_rsa\": does not exist":                 "deploy/id_rsa is hidden from programs on purpose (it is a private key): do without",
		"cat: .env.example: No such file or directory":               "",
		"cat: production.env: No such file or directory":             "",
		"cat: id_rsa_old: No such file or directory":                 "",
		".env is fine, and the test failed\nbox: command not found":  "",
		"fatal: unable to access '.git/config': No such file or dir": "",
	} {
		result := sandbox.Result{Status: sandbox.Exited, ExitCode: 1, Stderr: sandbox.Output{Data: []byte(output + "\n")}}
		got := advice.Refused(sandbox.Spec{}, result, hidden)
		if want == "" && strings.Contains(got, "hidden") || !strings.Contains(got, want) {
			t.Errorf("%q: the advice is %q, want %q", output, got, want)
		}
		result.ExitCode = 0
		if got := advice.Refused(sandbox.Spec{}, result, hidden); got != "" {
			t.Errorf("%q, and exit code 0: the advice is %q", output, got)
		}
	}
}

// TestOtherOwnersAreTold: EOVERFLOW means another owner where something is shared,
// and what the program says of it elsewhere.
func TestOtherOwnersAreTold(t *testing.T) {
	t.Parallel()
	result := sandbox.Result{Status: sandbox.Exited, ExitCode: 1, Stdout: sandbox.Output{Data: []byte("chmod: x: Value too large for defined data type\n")}}
	shared := sandbox.Spec{Shares: []sandbox.Share{{Path: "/p", Access: sandbox.AccessReview}}}
	if got := advice.Refused(shared, result, nil); !strings.Contains(got, "belongs to another user") {
		t.Errorf("with a share the advice is %q", got)
	}
	if got := advice.Refused(sandbox.Spec{}, result, nil); got != "" {
		t.Errorf("without a share the advice is %q", got)
	}
}

// TestReadOnlyNamesTheProject: what is refused where a project is shared for
// reading alone is not what is refused where changes are held.
func TestReadOnlyNamesTheProject(t *testing.T) {
	t.Parallel()
	result := sandbox.Result{Status: sandbox.Exited, ExitCode: 1, Stderr: sandbox.Output{Data: []byte("touch: cannot touch 'x': Read-only file system\n")}}
	for access, want := range map[sandbox.Access]string{
		"":                   "so is all else but the workspace, $HOME",
		sandbox.AccessRead:   "so is all else but the workspace, $HOME",
		sandbox.AccessReview: "so is all else but the project, the workspace, $HOME",
	} {
		spec := sandbox.Spec{Project: access != ""}
		if access != "" {
			spec.Shares = []sandbox.Share{{Path: "/p"}}
			result.Shared = []sandbox.Shared{{Path: "/p", Access: access}}
		}
		if got := advice.Refused(spec, result, nil); !strings.Contains(got, want) {
			t.Errorf("with access %q the advice is %q, want %q", access, got, want)
		}
	}
}
