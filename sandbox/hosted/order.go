package hosted

import (
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // of the script
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
)

//go:embed runner.py
var runner []byte

// order is what the script in the container is to do. Bytes that need not be text
// are base64 in JSON.
type order struct {
	// Nonce is in the frame of the result, which nobody can know before.
	Nonce string `json:"nonce"`
	// Base stands in arguments and variables for the directory above those that
	// the run has in the container.
	Base string `json:"base"`
	// Candidates are what the program may be, the best first.
	Candidates []candidate `json:"candidates"`
	Env        [][]byte    `json:"env"`
	InSkill    bool        `json:"inSkill"`
	Stdin      []byte      `json:"stdin"`
	Limits     limits      `json:"limits"`
	Skill      manifest    `json:"skill"`
	// Files is the upload that holds the workspace, and Reply the name of the file
	// in which what comes back is written.
	Files upload `json:"files"`
	Reply string `json:"reply"`
}

// candidate is a program that is started where Look is found, in place of the first
// of its arguments; it need not be looked for where that is empty.
type candidate struct {
	Look []byte   `json:"look"`
	Argv [][]byte `json:"argv"`
}

// limits are those that the script holds the run to.
type limits struct {
	TimeoutMS      int64 `json:"timeoutMs"`
	SpillBytes     int64 `json:"spillBytes"`
	MemoryBytes    int64 `json:"memoryBytes"`
	FileBytes      int64 `json:"fileBytes"`
	OpenFiles      int   `json:"openFiles"`
	WorkspaceBytes int64 `json:"workspaceBytes"`
	WorkspaceFiles int   `json:"workspaceFiles"`
	ReplyBytes     int64 `json:"replyBytes"`
}

// newOrder returns what a spec asks for, the files left out, and the error where no
// candidate is found. Errors are of type [sandbox.SetupError].
func newOrder(spec sandbox.Spec, timeout time.Duration) (o *order, missing, err error) {
	nonce := rand.Text()
	base := "/skills-mcp-" + nonce
	at := command.Dirs{Workspace: base + "/workspace", Home: base + "/home", Tmp: base + "/tmp"}
	if spec.SkillDir != "" {
		at.Skill = base + "/skill"
	}
	o = &order{
		Nonce: nonce, Base: base, InSkill: spec.InSkill, Stdin: spec.Stdin, Reply: "skills-mcp-" + nonce + ".reply",
		Limits: limits{
			TimeoutMS: timeout.Milliseconds(), SpillBytes: spec.Limits.SpillBytes, MemoryBytes: spec.Limits.MemoryBytes,
			FileBytes: spec.Limits.FileBytes, OpenFiles: spec.Limits.OpenFiles,
			WorkspaceBytes: spec.Limits.WorkspaceBytes, WorkspaceFiles: spec.Limits.WorkspaceFiles, ReplyBytes: maxReplyBytes - 2*spec.Limits.SpillBytes,
		},
	}
	if o.Candidates, missing, err = candidates(spec, at.Skill); err != nil {
		return nil, nil, err
	}
	env, err := command.Environ(spec, "", nil, at)
	o.Env = byteSlices(env)
	return o, missing, err
}

// candidates returns what a spec may mean on a machine of which is not known what
// it has, and the error for one that has nothing of it.
func candidates(spec sandbox.Spec, skillDir string) (all []candidate, missing, err error) {
	var wanted []string
	argv, missing := command.Line(spec, skillDir, func(name string) (string, bool) {
		wanted = append(wanted, name)
		return "", false
	})
	switch {
	case missing == nil: // the skill's own program
		return []candidate{{Argv: byteSlices(argv)}}, nil, nil
	case len(wanted) == 0:
		return nil, nil, missing
	}
	for _, name := range wanted {
		argv, err := command.Line(spec, skillDir, func(asked string) (string, bool) { return asked, asked == name })
		if err != nil {
			return nil, nil, err
		}
		all = append(all, candidate{Look: []byte(name), Argv: byteSlices(argv)})
	}
	return all, missing, nil
}

func byteSlices(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, text := range texts {
		all[i] = []byte(text)
	}
	return all
}

// script returns the file that does what is ordered, and its name.
func (o *order) script() (name string, data []byte, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return "", nil, err
	}
	data = fmt.Appendf(nil, "%s\n\nmain(%q)\n", runner, base64.StdEncoding.EncodeToString(text))
	return fmt.Sprintf("skills-mcp-%x.py", sha256.Sum256(data)), data, nil
}

// commandOf returns the command that runs a script, wherever the container has what
// was uploaded.
func commandOf(script string) string {
	return `python3 -I "$(find "${INPUT_DIR:-/}" -name ` + script + ` -print -quit 2>/dev/null)"`
}
