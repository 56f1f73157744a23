package testdata

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ReferenceCase is one file below a directory, and what the reference validator
// of Agent Skills says of that directory.
type ReferenceCase struct {
	// Line is the row's, from 1.
	Line int
	// File is slash-separated. Its first segment is the directory of the skill.
	File    string
	Content []byte
	// Valid is the verdict of the reference validator.
	Valid bool
	// Stricter says that ours is another: the skill is not valid.
	Stricter bool
}

// Dir is the directory of the skill.
func (c ReferenceCase) Dir() string {
	dir, _, _ := strings.Cut(c.File, "/")
	return dir
}

// Write writes the case below a directory.
func (c ReferenceCase) Write(t testing.TB, root string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(c.File))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, c.Content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// VerdictsFile is the path of the table of [ReferenceCases].
func VerdictsFile() string { return filepath.Join(Dir(), "verdicts.txt") }

// ReferenceCases reads the table of verdicts. A row is a verdict, the name of a
// file, and its content, in quotes as Go has them: several are joined, and with
// N* before one it is repeated. The verdict is valid, invalid, or stricter where
// the reference validator says valid and we do not. A row that makes no sense
// fails t.
func ReferenceCases(t testing.TB) []ReferenceCase {
	t.Helper()
	table, err := os.ReadFile(VerdictsFile())
	if err != nil {
		t.Fatal(err)
	}
	var cases []ReferenceCase
	for i, line := range strings.Split(string(table), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row, err := referenceCase(line)
		if err != nil {
			t.Fatalf("%s:%d: %v", VerdictsFile(), i+1, err)
		}
		row.Line = i + 1
		cases = append(cases, row)
	}
	if len(cases) == 0 {
		t.Fatal("the table of verdicts is empty")
	}
	return cases
}

func referenceCase(line string) (c ReferenceCase, err error) {
	verdict, rest, _ := strings.Cut(line, " ")
	switch verdict {
	case "valid":
		c.Valid = true
	case "stricter":
		c.Valid, c.Stricter = true, true
	case "invalid":
	default:
		return c, fmt.Errorf("%q is no verdict", verdict)
	}
	file, rest, err := quoted(rest)
	if err != nil {
		return c, err
	}
	c.File = string(file)
	for rest != "" {
		var part []byte
		if part, rest, err = quoted(rest); err != nil {
			return c, err
		}
		c.Content = append(c.Content, part...)
	}
	return c, nil
}

// quoted cuts one text off the beginning of a row.
func quoted(row string) (text []byte, rest string, err error) {
	row = strings.TrimLeft(row, " ")
	times := 1
	if count, after, found := strings.Cut(row, `*"`); found && !strings.Contains(count, `"`) {
		if times, err = strconv.Atoi(count); err != nil {
			return nil, "", err
		}
		row = `"` + after
	}
	prefix, err := strconv.QuotedPrefix(row)
	if err != nil {
		return nil, "", fmt.Errorf("%w at %.40s", err, row)
	}
	once, err := strconv.Unquote(prefix)
	return bytes.Repeat([]byte(once), times), row[len(prefix):], err
}
