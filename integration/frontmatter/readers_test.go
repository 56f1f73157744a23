package frontmatter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// outcome is what one reader made of a document.
type outcome struct {
	text    string // the value in JSON
	value   any
	refusal string // why there is no value, or empty
	// rules are the problems that skills-mcp reports.
	rules []string
	// oddKeys and depth come from the syntax tree of the JavaScript reader:
	// the number of keys that are no strings, and of nested collections.
	oddKeys, depth int
	// odd names the types that a Python reader gave and JSON has not.
	odd []string
	// asked says that the reader was asked at all.
	asked bool
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
	env, server := program.Home(t), program.Binary(t)
	texts, meant := make([]string, len(documents)), make([]string, len(documents))
	for i, d := range documents {
		texts[i], meant[i] = d.yaml, d.means
	}
	var ours, inJS []outcome
	var inPy []pythonOutcome
	running, ctx := errgroup.WithContext(t.Context())
	running.Go(func() (err error) {
		ours, err = list(ctx, env, server, root, len(documents))
		return err
	})
	running.Go(func() (err error) {
		inJS, err = readJavaScript(ctx, env, slices.Concat(texts, meant))
		return err
	})
	running.Go(func() (err error) {
		inPy, err = readPython(ctx, env, texts)
		return err
	})
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	readings := make([]reading, len(documents))
	for i, d := range documents {
		py := inPy[i]
		readings[i] = reading{
			document: d, ours: ours[i], javascript: inJS[i], meant: inJS[len(documents)+i],
			core: py.core, ruamel: py.ruamel, pyyaml: py.pyyaml,
		}
	}
	return readings
}

// read is what a program says of one document.
type read struct {
	JSON  string
	Error string
	Odd   []string
	Facts struct {
		OddKeys int
		Depth   int
	}
}

func (r *read) outcome() (outcome, error) {
	if r == nil {
		return outcome{}, nil
	}
	o := outcome{
		refusal: r.Error, asked: true, odd: r.Odd, text: r.JSON,
		oddKeys: r.Facts.OddKeys, depth: r.Facts.Depth,
	}
	if o.refusal != "" {
		return o, nil
	}
	var err error
	if o.value, err = parseJSON([]byte(r.JSON)); err != nil {
		return outcome{}, fmt.Errorf("a reader wrote %q: %w", r.JSON, err)
	}
	return o, nil
}

func readJavaScript(ctx context.Context, env, texts []string) ([]outcome, error) {
	said, err := ask[*read](ctx, env, texts, "node", nodeScript)
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(said))
	for i, r := range said {
		if outcomes[i], err = r.outcome(); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

type pythonOutcome struct{ core, ruamel, pyyaml outcome }

func readPython(ctx context.Context, env, texts []string) ([]pythonOutcome, error) {
	type answer struct{ Core, Ruamel, PyYAML *read }
	said, err := ask[answer](ctx, env, texts, program.Python(venvDir), pythonScript)
	if err != nil {
		return nil, err
	}
	outcomes := make([]pythonOutcome, len(said))
	for i, r := range said {
		var errs [3]error
		o := &outcomes[i]
		o.core, errs[0] = r.Core.outcome()
		o.ruamel, errs[1] = r.Ruamel.outcome()
		o.pyyaml, errs[2] = r.PyYAML.outcome()
		if err := errors.Join(errs[:]...); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// ask returns a program the texts and decodes what it answers to each. One process
// reads them all: most that a short one would do is begin.
func ask[T any](ctx context.Context, env, texts []string, name string, args ...string) ([]T, error) {
	encoded := make([][]byte, len(texts)) // as base64 in JSON
	for i, text := range texts {
		encoded[i] = []byte(text)
	}
	question, err := json.Marshal(encoded)
	if err != nil {
		return nil, err
	}
	said, err := output(ctx, env, question, name, args...)
	if err != nil {
		return nil, err
	}
	var answers []T
	if err := json.Unmarshal(said, &answers); err != nil {
		return nil, fmt.Errorf("%s said %.200q: %w", name, said, err)
	}
	if len(answers) != len(texts) {
		return nil, fmt.Errorf("%s read %d of %d documents", name, len(answers), len(texts))
	}
	return answers, nil
}

// patience is for readers that compute for seconds, with the processor to
// themselves: some documents stand for millions of values.
const patience = 3 * program.Patience

// output runs a program to its end and returns its stdout.
func output(ctx context.Context, env []string, stdin []byte, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	cmd.Stdin = bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("%v: %w\n%s", cmd.Args, err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}
