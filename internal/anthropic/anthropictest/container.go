package anthropictest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// ModelName is the model that there is.
const ModelName = "claude-of-the-stand-in"

// container is a directory, in which commands run as plain processes: tests give it
// those alone that they trust.
type container struct {
	id      string
	dir     string
	expires time.Time
	asked   string // the command that the model was to run
	turn    *turn  // the last one

	busy sync.Mutex // while a request is at work
}

// The directories of a container, which variables of its commands name.
var containerDirs = map[string]string{
	"INPUT_DIR": "inputs", "OUTPUT_DIR": "outputs", "SKILLS_DIR": "skills", "HOME": "home", "TMPDIR": "tmp",
}

// Expire has all containers that there are be gone.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, box := range s.containers {
		box.expires = now()
	}
}

// Tamper has the files of skills in new containers be what change makes of them,
// unless it is nil.
func (s *Server) Tamper(change func(name string, data []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tamper = change
}

// Containers returns how many containers there are.
func (s *Server) Containers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.containers)
}

// containerOf returns the container that a request names, or a new one.
func (s *Server) containerOf(params *anthropic.ContainerParams) (*container, error) {
	if params == nil {
		params = &anthropic.ContainerParams{}
	}
	if params.ID != "" {
		at := slices.IndexFunc(s.containers, func(c *container) bool { return c.id == params.ID })
		if at < 0 || !now().Before(s.containers[at].expires) {
			return nil, invalid("container: %s is not there, or has expired", params.ID)
		}
		return s.containers[at], nil
	}
	if s.dir == nil {
		dir, err := tempdir.New("", "skills-mcp-stand-in-")
		if err != nil {
			return nil, err
		}
		s.dir = dir
	}
	box := &container{id: s.newID("container"), expires: now().AddDate(0, 0, 30)}
	box.dir = filepath.Join(s.dir.Path(), box.id)
	err := os.MkdirAll(filepath.Join(box.dir, "work"), 0o755)
	for _, name := range containerDirs {
		err = errors.Join(err, os.Mkdir(filepath.Join(box.dir, name), 0o755))
	}
	if err != nil {
		return nil, err
	}
	for _, wanted := range params.Skills {
		if err := s.install(box, wanted); err != nil {
			return nil, err
		}
	}
	s.containers = append(s.containers, box)
	return box, nil
}

// install puts a version of a skill into a container. Nothing in it can be
// executed.
func (s *Server) install(box *container, wanted anthropic.ContainerSkill) error {
	at := slices.IndexFunc(s.skills, func(k *skill) bool { return k.ID == wanted.SkillID })
	if at < 0 {
		return invalid("container.skills: %s is not there", wanted.SkillID)
	}
	versions := s.skills[at].versions
	at = slices.IndexFunc(versions, func(v *version) bool { return v.ID == wanted.Version || wanted.Version == "latest" })
	if at < 0 {
		return invalid("container.skills: %s has no version %s", wanted.SkillID, wanted.Version)
	}
	for _, file := range versions[at].files {
		name, data := filepath.Join(box.dir, "skills", filepath.FromSlash(file.name)), file.data
		if s.tamper != nil {
			data = s.tamper(file.name, data)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// put puts an uploaded file into a container.
func (s *Server) put(box *container, id string) error {
	at := slices.IndexFunc(s.files, func(f *file) bool { return f.ID == id })
	if at < 0 {
		return invalid("container_upload: %s is not there", id)
	}
	return os.WriteFile(filepath.Join(box.dir, "inputs", s.files[at].Filename), s.files[at].data, 0o644)
}

// run runs a command in a container, and returns its result. Files that it made in
// the directory for them are kept as such.
func (s *Server) run(box *container, command string) map[string]any {
	var stdout, stderr bytes.Buffer
	shell := exec.CommandContext(s.ctx, "bash", "-c", command)
	shell.Dir, shell.Stdout, shell.Stderr = filepath.Join(box.dir, "work"), &stdout, &stderr
	shell.WaitDelay = time.Second
	shell.Env = []string{"PATH=" + os.Getenv("PATH"), "LEAKED=by the container"}
	for variable, name := range containerDirs {
		shell.Env = append(shell.Env, variable+"="+filepath.Join(box.dir, name))
	}
	code := 0
	if err := shell.Run(); err != nil {
		code = max(1, shell.ProcessState.ExitCode())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	files := []map[string]string{}
	made, _ := os.ReadDir(filepath.Join(box.dir, "outputs"))
	for _, entry := range made {
		name := filepath.Join(box.dir, "outputs", entry.Name())
		data, err := os.ReadFile(name)
		if err = errors.Join(err, os.Remove(name)); err == nil {
			files = append(files, map[string]string{"type": "bash_code_execution_output", "file_id": s.keep(entry.Name(), data, true).ID})
		}
	}
	return map[string]any{
		"type": "bash_code_execution_result", "return_code": code, "stdout": stdout.String(), "stderr": stderr.String(), "content": files,
	}
}

var orderText = regexp.MustCompile(`\nmain\("([A-Za-z0-9+/=]+)"\)\n$`)

// NonceOf returns the nonce in an uploaded script of package sandbox/hosted, which
// whoever has the container can read.
func (s *Server) NonceOf(script string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range s.files {
		if found := orderText.FindSubmatch(file.data); found != nil && file.Filename == script {
			var order struct {
				Nonce string `json:"nonce"`
			}
			text, err := base64.StdEncoding.DecodeString(string(found[1]))
			if err = errors.Join(err, json.Unmarshal(text, &order)); err == nil {
				return order.Nonce
			}
		}
	}
	return ""
}
