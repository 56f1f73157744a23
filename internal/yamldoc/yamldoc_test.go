package yamldoc_test

import (
	"errors"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
)

func TestParse(t *testing.T) {
	t.Parallel()
	root, err := yamldoc.Parse([]byte("# a comment\na: 1\n"))
	if err != nil || root == nil || len(root.Content) != 2 || root.Content[0].Line != 2 {
		t.Errorf("%+v, %v", root, err)
	}
	if root, err := yamldoc.Parse([]byte("# nothing\n")); root != nil || err != nil {
		t.Errorf("%+v, %v", root, err)
	}
	if _, err := yamldoc.Parse([]byte("a: 1\n---\nb: 2\n")); !errors.Is(err, yamldoc.ErrSeveral) {
		t.Errorf("%v", err)
	}
}

func TestFault(t *testing.T) {
	t.Parallel()
	source := []byte("a: 1\nb: 'open\n")
	_, err := yamldoc.Parse(source)
	if err == nil {
		t.Fatal("no error")
	}
	if message, line, column := yamldoc.Fault(source, err); message == "" || line != 2 || column != 4 {
		t.Errorf("%q at %d:%d", message, line, column)
	}
	if message, line, _ := yamldoc.Fault(nil, yamldoc.ErrSeveral); message != yamldoc.ErrSeveral.Error() || line != 0 {
		t.Errorf("%q at %d", message, line)
	}
}

func TestIsDisputed(t *testing.T) {
	t.Parallel()
	for _, c := range "\x00\x1b\x7f\u0085\u2028\ufffe" {
		if !yamldoc.IsDisputed(c) {
			t.Errorf("%U is not disputed", c)
		}
	}
	for _, c := range "a \t\n\r\u00a0ü世" {
		if yamldoc.IsDisputed(c) {
			t.Errorf("%U is disputed", c)
		}
	}
}
