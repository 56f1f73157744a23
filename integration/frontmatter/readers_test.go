package frontmatter

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// outcome is what one reader made of a document.
type outcome struct {
	value   any
	refusal string // why there is no value, or empty
	// rules are the problems that skills-mcp reports.
	rules []string
	// tags, oddKeys and depth come from the syntax tree of the JavaScript
	// reader: tags written, keys that are no strings, levels of collections.
	tags    []string
	oddKeys int
	depth   int
	// odd names the types that a Python reader gave and JSON has not.
	odd []string
	// unlike are the plain scalars that a Python reader's own schema reads
	// otherwise than the core schema.
	unlike []string
}

// reading is a document with what everybody made of it.
type reading struct {
	document
	ours                 outcome
	javascript           outcome
	core, ruamel, pyyaml outcome
	meant                outcome // what JavaScript reads in document.means
}

// readAll has everybody read the documents.
func readAll(t *testing.T, documents []document) []reading {
	t.Helper()
	root := t.TempDir()
	documents = write(t, root, documents)
	readings := make([]reading, len(documents))
	texts, meant := make([]string, len(documents)), make([]string, len(documents))
	for i, d := range documents {
		readings[i].document = d
		texts[i], meant[i] = d.yaml, d.means
	}
	var running sync.WaitGroup
	running.Go(func() {
		for i, o := range list(t, root, len(documents)) {
			readings[i].ours = o
		}
	})
	running.Go(func() {
		for i, o := range readJavaScript(t, append(texts[:len(texts):len(texts)], meant...)) {
			if i < len(texts) {
				readings[i].javascript = o
			} else {
				readings[i-len(texts)].meant = o
			}
		}
	})
	running.Go(func() {
		for i, o := range readPython(t, texts) {
			readings[i].core, readings[i].ruamel, readings[i].pyyaml = o.core, o.ruamel, o.pyyaml
		}
	})
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return readings
}

// read is what a program says of one document.
type read struct {
	JSON   string
	Error  string
	Odd    []string
	Unlike []string
	Facts  struct {
		Tags    []string
		OddKeys int
		Depth   int
	}
}

func (r read) outcome(t *testing.T) outcome {
	t.Helper()
	o := outcome{
		refusal: r.Error,
		tags:    r.Facts.Tags, oddKeys: r.Facts.OddKeys, depth: r.Facts.Depth,
		odd: r.Odd, unlike: r.Unlike,
	}
	if o.refusal != "" {
		return o
	}
	var err error
	if o.value, err = parseJSON([]byte(r.JSON)); err != nil {
		t.Errorf("a reader wrote %q: %v", r.JSON, err)
	}
	return o
}

func readJavaScript(t *testing.T, texts []string) []outcome {
	t.Helper()
	var said []read
	ask(t, texts, &said, "node", nodeScript)
	outcomes := make([]outcome, len(said))
	for i, r := range said {
		outcomes[i] = r.outcome(t)
	}
	return outcomes
}

type pythonOutcome struct{ core, ruamel, pyyaml outcome }

func readPython(t *testing.T, texts []string) []pythonOutcome {
	t.Helper()
	var said []struct{ Core, Ruamel, PyYAML read }
	ask(t, texts, &said, python(), pythonScript)
	outcomes := make([]pythonOutcome, len(said))
	for i, r := range said {
		outcomes[i] = pythonOutcome{r.Core.outcome(t), r.Ruamel.outcome(t), r.PyYAML.outcome(t)}
	}
	return outcomes
}

// ask gives a program the texts and decodes what it answers.
func ask(t *testing.T, texts []string, answer any, name string, args ...string) {
	t.Helper()
	encoded := make([]string, len(texts))
	for i, text := range texts {
		encoded[i] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	question, err := json.Marshal(encoded)
	if err != nil {
		t.Error(err)
		return
	}
	said := output(t, question, name, args...)
	if err := json.Unmarshal(said, answer); err != nil {
		t.Errorf("%s said %.200q: %v", name, said, err)
	}
}

// output runs a program to its end and gives its stdout. A failure fails the
// test, which may run it beside others.
func output(t *testing.T, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = home(t)
	cmd.Stdin = bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// home is an environment of its own for one process: nothing of the user who
// runs the tests is read or written.
func home(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	env := []string{
		"HOME=" + dir,
		"USERPROFILE=" + dir,
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"PATH=" + os.Getenv("PATH"),
		"LANG=C.UTF-8",
		"PYTHONDONTWRITEBYTECODE=1",
		"PYTHONIOENCODING=utf-8",
		// A data race ends the server at once, which no test survives.
		"GORACE=halt_on_error=1 atexit_sleep_ms=0",
	}
	if runtime.GOOS == "windows" {
		env = append(env, "SystemRoot="+os.Getenv("SystemRoot"), "TEMP="+dir)
	}
	return env
}

// list has skills-mcp read the documents below root.
func list(t *testing.T, root string, n int) []outcome {
	t.Helper()
	var listing struct {
		Skills []struct {
			Path        string
			Frontmatter json.RawMessage
		}
		Problems []struct{ Severity, File, Rule string }
	}
	said := output(t, nil, binary, "list", "--json", root)
	if err := json.Unmarshal(said, &listing); err != nil {
		t.Errorf("list --json said %.200q: %v", said, err)
		return nil
	}
	byDirectory := map[string]int{}
	for i := range n {
		byDirectory[directory(i)] = i
	}
	place := func(path string) int {
		i, found := byDirectory[filepath.Base(filepath.Dir(path))]
		if !found {
			t.Errorf("list --json names %s, which is none of the documents", path)
		}
		return i
	}
	outcomes := make([]outcome, n)
	for i := range outcomes {
		outcomes[i].refusal = "not published and no problem reported"
	}
	for _, p := range listing.Problems {
		o := &outcomes[place(p.File)]
		o.rules = append(o.rules, p.Rule)
		if p.Severity == "error" {
			o.refusal = p.Rule
		}
	}
	for _, skill := range listing.Skills {
		o := &outcomes[place(skill.Path)]
		o.refusal = ""
		var err error
		if o.value, err = parseJSON(skill.Frontmatter); err != nil {
			t.Errorf("list --json gives %s the frontmatter %q: %v", skill.Path, skill.Frontmatter, err)
		}
	}
	return outcomes
}

// refusedBy tells whether skills-mcp excluded the document by one of these
// rules.
func (o outcome) refusedBy(rules ...string) bool {
	for _, rule := range rules {
		if strings.EqualFold(o.refusal, rule) {
			return true
		}
	}
	return false
}
