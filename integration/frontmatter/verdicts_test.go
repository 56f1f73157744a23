package frontmatter

import (
	"cmp"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// referenceRefusals returns what the reference validator finds wrong with each
// directory.
func referenceRefusals(t *testing.T, dirs []string) (refusals [][]string) {
	t.Helper()
	question, err := json.Marshal(dirs)
	if err != nil {
		t.Fatal(err)
	}
	said, err := output(t.Context(), program.Home(t), question, program.Python(venvDir), referenceScript)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(said, &refusals); err != nil || len(refusals) != len(dirs) {
		t.Fatalf("%s said %.200q: %v", referenceScript, said, err)
	}
	return refusals
}

// TestVerdictsAreTheReferenceValidators asks the reference validator itself for
// every verdict of the table that the catalog's tests hold ours to.
func TestVerdictsAreTheReferenceValidators(t *testing.T) {
	requireReference(t)
	cases := testdata.ReferenceCases(t)
	root, dirs := t.TempDir(), make([]string, len(cases))
	for i, c := range cases {
		own := filepath.Join(root, directory(i))
		c.Write(t, own)
		dirs[i] = filepath.Join(own, c.Dir())
	}
	for i, found := range referenceRefusals(t, dirs) {
		if c := cases[i]; c.Valid != (len(found) == 0) {
			t.Errorf("%s:%d: valid is %v: %.100q: %.300q", testdata.VerdictsFile(), c.Line, c.Valid, c.Content, found)
		}
	}
}

// ourVerdicts returns for each document below root a rule by which it is not valid,
// or nothing.
func ourVerdicts(t *testing.T, root string, n int) []string {
	t.Helper()
	said, err := output(t.Context(), program.Home(t), nil, program.Binary(t), "validate", "--json", root)
	if faulty, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || faulty.ExitCode() != 1) {
		t.Fatal(err)
	}
	var report struct {
		Skills []struct {
			Path  string
			Valid bool
		}
		Problems []struct{ Severity, File, Rule string }
	}
	if err := json.Unmarshal(said, &report); err != nil || len(report.Skills) != n {
		t.Fatalf("validate --json has %d skills of %d: %v", len(report.Skills), n, err)
	}
	rules := map[string]string{}
	for _, p := range report.Problems {
		if p.Severity == "error" {
			rules[p.File] = p.Rule
		}
	}
	verdicts := make([]string, n)
	for i, skill := range report.Skills { // sorted by path
		if filepath.Base(filepath.Dir(skill.Path)) != directory(i) {
			t.Fatalf("validate --json has %s where %s belongs", skill.Path, directory(i))
		}
		if !skill.Valid {
			verdicts[i] = cmp.Or(rules[skill.Path], "no error that was told")
		}
	}
	return verdicts
}

// TestVerdictsOnGeneratedDocuments compares the verdicts on all that the readers
// of YAML are asked about.
func TestVerdictsOnGeneratedDocuments(t *testing.T) {
	requireReference(t)
	testenv.Variant(t, "has the reference validator read four thousand documents, where the table has every kind")
	root := t.TempDir()
	documents := slices.Concat(generatedDocuments(generatedCount, 2), sampleDocuments(t), scalarDocuments(), blockDocuments(), formDocuments())
	documents = write(t, root, slices.Concat(documents, nested(documents)))
	dirs := make([]string, len(documents))
	for i := range dirs {
		dirs[i] = filepath.Join(root, directory(i))
	}
	refusals := referenceRefusals(t, dirs)
	ours := ourVerdicts(t, root, len(documents))
	used := make([]int, len(intendedVerdicts))
	for i, d := range documents {
		verdict := verdictOn{document: d, ours: ours[i], theirs: refusals[i]}
		if (verdict.ours == "") == (len(verdict.theirs) == 0) {
			continue
		}
		if kind := slices.IndexFunc(intendedVerdicts, func(kind intendedVerdict) bool { return kind.covers(verdict) }); kind >= 0 {
			used[kind]++
			continue
		}
		t.Errorf("%s: %q\n  ours: %s\n  theirs: %.300q", d.origin, d.entry, verdict.ours, verdict.theirs)
	}
	for i, kind := range intendedVerdicts {
		if used[i] == 0 {
			t.Errorf("no verdict differs by %q any more", kind.name)
		}
	}
}

// verdictOn is what skills-mcp and the reference validator refuse a document for.
type verdictOn struct {
	document
	ours   string
	theirs []string
}

// intendedVerdict is a kind of difference that is as it should be. In all but the
// last ours is the stricter.
type intendedVerdict struct {
	name   string
	covers func(v verdictOn) bool
}

var intendedVerdicts = []intendedVerdict{
	{"the reference validator ends the frontmatter at any three hyphens, and does not see what follows",
		func(v verdictOn) bool { return v.ours != "" && strings.Contains(v.yaml, "---") }},
	{"a line break of YAML 1.1, of which readers differ",
		func(v verdictOn) bool { return v.ours == "yaml-syntax" && break11.MatchString(v.yaml) }},
	{"half a pair of surrogates, which is no text",
		func(v verdictOn) bool { return v.ours == "yaml-syntax" && surrogate.MatchString(v.yaml) }},
	{"a key that is missing",
		func(v verdictOn) bool { return v.ours == "yaml-key-type" }},
	{"the reference validator ends with a traceback",
		func(v verdictOn) bool {
			return len(v.theirs) > 0 && strings.HasPrefix(v.theirs[0], "NotImplementedError")
		}},
}

// nested returns documents with what they are about as metadata, whose keys
// nobody holds to a list.
func nested(documents []document) (nested []document) {
	for _, d := range documents {
		if rest, found := strings.CutPrefix(d.yaml, header); found {
			nested = append(nested, document{origin: d.origin + ", nested", yaml: header + "metadata:\n" + indentedBy(2, rest)})
		}
	}
	return nested
}
