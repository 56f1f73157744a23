package command

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	gitTimeout = 5 * time.Second
	// maxGitValueBytes is how long a name or an address may be to be used.
	maxGitValueBytes = 256
)

// GitUser is in whose name git commits. Either may be empty.
type GitUser struct{ Name, Email string }

// ReadGitUser asks git for the name and the address of the user, as the user's
// own configuration has them for a directory: no more of it is for programs. It
// returns what it finds, so nothing where there is no git.
func ReadGitUser(ctx context.Context, dir string) GitUser {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	return GitUser{Name: gitValue(ctx, dir, "user.name"), Email: gitValue(ctx, dir, "user.email")}
}

// gitValue reads one value. The repository in dir may be anybody's: of it only
// where it is matters, by which the user's configuration may include files.
func gitValue(ctx context.Context, dir, key string) string {
	git := exec.CommandContext(ctx, "git", "config", "--global", "--includes", "--get", key)
	git.Dir = dir
	git.WaitDelay = time.Second
	git.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	for _, name := range []string{"HOME", "PATH", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SystemRoot"} {
		if value, set := os.LookupEnv(name); set {
			git.Env = append(git.Env, name+"="+value)
		}
	}
	out, err := git.Output()
	value := strings.TrimSpace(string(out))
	if err != nil || len(value) > maxGitValueBytes || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return ""
	}
	return value
}

// Config returns what git is to read as the configuration of the system where
// there is a project: so that the repository's own goes first. That its files are
// somebody else's, as they may seem to be in a sandbox, is no reason not to use
// it: what it has run is in the sandbox too.
func (u GitUser) Config() string {
	text := "[safe]\n\tdirectory = *\n"
	if u.Name != "" || u.Email != "" {
		text += "[user]\n"
	}
	for key, value := range map[string]string{"name": u.Name, "email": u.Email} {
		if value != "" {
			text += "\t" + key + " = \"" + gitQuotes.Replace(value) + "\"\n"
		}
	}
	return text
}

var gitQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
