//go:build unix

package environments_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

// TestFindIndexes: what the user named is asked, and else what uv asks by itself,
// with the hosts on which that one has its files.
func TestFindIndexes(t *testing.T) {
	t.Parallel()
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/simple/pip/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `<a href="https://files.test/pip-1.whl#sha256=00">pip-1.whl</a><a href="https://files.test/pip-2.whl">2</a><a href="../here.whl">3</a>`)
	}))
	t.Cleanup(index.Close)
	uv := func(says string) string {
		path := filepath.Join(t.TempDir(), "uv")
		if err := os.WriteFile(path, []byte("#!/bin/sh\ncat <<'END'\n"+says+"\nEND\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	help := uv("      --default-index <DEFAULT_INDEX>\n          The default package index (by default:\n          <" + index.URL + "/simple>) [env: X]")
	python := environments.Wanted{Python: []string{"tiny"}}
	for _, test := range []struct {
		name, uv  string
		env       map[string]string
		files     map[string]string
		wanted    environments.Wanted
		python    string
		hosts     []string
		wantError string
	}{
		{name: "by default", uv: help, wanted: python, python: index.URL + "/simple", hosts: []string{"files.test", index.URL}},
		{name: "no uv", wanted: python},
		{name: "nothing of Python", uv: help},
		{name: "another text", uv: uv("no index here"), wanted: python, wantError: "UV_DEFAULT_INDEX"},
		{name: "a variable", uv: help, env: map[string]string{"UV_DEFAULT_INDEX": "https://index.test/simple"}, wanted: python,
			python: "https://index.test/simple", hosts: []string{"index.test"}},
		{name: "pip's settings", uv: help, files: map[string]string{"pip/pip.conf": "[global]\nindex-url = http://index.test:8080/simple\n"}, wanted: python,
			python: "http://index.test:8080/simple", hosts: []string{"http://index.test:8080"}},
		{name: "no URL", env: map[string]string{"PIP_INDEX_URL": "index.test"}, wanted: python, wantError: "is no https:// or http:// URL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			places := environments.Places{
				Getenv: func(name string) string { return test.env[name] },
				Home:   t.TempDir(), Config: testfiles.Dir(t, test.files), System: t.TempDir(),
			}
			found, err := environments.FindIndexes(t.Context(), places, test.uv, test.wanted)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Errorf("got %v, want an error that has %q", err, test.wantError)
				}
				return
			}
			if err != nil || found.Python != test.python || !slices.Equal(found.Hosts, test.hosts) {
				t.Errorf("got %+v, %v", found, err)
			}
		})
	}
}
