package frontmatter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// listing is what list --json prints, as far as it matters here.
type listing struct {
	Skills []struct {
		Path        string
		Frontmatter json.RawMessage
	}
	Problems []struct{ Severity, File, Rule string }
}

// list has skills-mcp read the documents below root.
func list(ctx context.Context, env []string, server, root string, n int) ([]outcome, error) {
	said, err := output(ctx, env, nil, server, "list", "--json", root)
	// Documents at fault are what it is to find.
	if faulty, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || faulty.ExitCode() != 1) {
		return nil, err
	}
	var listed listing
	if err := json.Unmarshal(said, &listed); err != nil {
		return nil, fmt.Errorf("list --json said %.200q: %w", said, err)
	}
	return listed.outcomes(n)
}

// outcomes sorts what was listed by the documents' directories.
func (l listing) outcomes(n int) ([]outcome, error) {
	places := map[string]int{}
	outcomes := make([]outcome, n)
	for i := range outcomes {
		places[directory(i)] = i
		outcomes[i].refusal = "not published, and no error reported"
	}
	place := func(path string) (*outcome, error) {
		i, found := places[filepath.Base(filepath.Dir(path))]
		if !found {
			return nil, fmt.Errorf("list --json names %s, which is none of the documents", path)
		}
		return &outcomes[i], nil
	}
	for _, p := range l.Problems {
		o, err := place(p.File)
		if err != nil {
			return nil, err
		}
		o.rules = append(o.rules, p.Rule)
		if p.Severity == "error" {
			o.refusal = p.Rule
		}
	}
	for _, skill := range l.Skills {
		o, err := place(skill.Path)
		if err != nil {
			return nil, err
		}
		o.refusal, o.text = "", string(compact(skill.Frontmatter))
		if o.value, err = parseJSON(skill.Frontmatter); err != nil {
			return nil, fmt.Errorf("list --json gives %s the frontmatter %q: %w", skill.Path, skill.Frontmatter, err)
		}
	}
	return outcomes, nil
}

func compact(text []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text // the caller finds out
	}
	return out.Bytes()
}
