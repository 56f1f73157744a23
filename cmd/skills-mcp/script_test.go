package main

import (
	"archive/zip"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skills-mcp/skills-mcp/internal/anthropic/anthropictest"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/testdata"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"skills-mcp": main})
}

// capture is 'capture NAME PATTERN': it sets a variable to what the last standard
// output has of a regular expression first.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	found := regexp.MustCompile(args[1]).FindString(ts.ReadFile("stdout"))
	if found == "" {
		ts.Fatalf("nothing of the output is %s", args[1])
	}
	ts.Setenv(args[0], found)
}

// pack is 'pack ARCHIVE DIR': it makes a ZIP file of what a directory holds.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pack ARCHIVE DIR")
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	archive := zip.NewWriter(file)
	ts.Check(archive.AddFS(os.DirFS(ts.MkAbs(args[1]))))
	ts.Check(archive.Close())
	ts.Check(file.Close())
}

type apiKey struct{}

// made is 'made NAME CONTENT': the stand-in for the Claude API gets a file that was
// made in a container, whose id is in $MADE from then on.
func made(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: made NAME CONTENT")
	}
	ts.Setenv("MADE", ts.Value(apiKey{}).(*anthropictest.Server).AddFile(args[0], []byte(args[1])))
}

// asked is 'asked N REQUEST': the stand-in for the Claude API was asked so often, as
// by "POST /v1/messages", since this was said last.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: asked N REQUEST")
	}
	requests := ts.Value(apiKey{}).(*anthropictest.Server).Requests()
	if n := len(slices.DeleteFunc(requests, func(request string) bool { return request != args[1] })); strconv.Itoa(n) != args[0] {
		ts.Fatalf("%d times", n)
	}
}

// TestCommands runs the program as a user does, by the scripts in
// testdata/cli.
func TestCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/cli",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"capture": capture, "pack": pack, "made": made, "asked": asked},
		Condition: func(condition string) (bool, error) {
			if condition != "local" {
				return false, fmt.Errorf("there is no condition %q", condition)
			}
			backend, err := local.New(t.Context(), local.Options{Tier: local.Full})
			if err != nil {
				t.Logf("no local sandbox: %v", err)
				return false, nil
			}
			return true, backend.Close()
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLES", testdata.Valid())
			env.Setenv("HOME", env.WorkDir+"/home")
			api, stop := anthropictest.Start()
			env.Defer(stop)
			env.Values[apiKey{}] = api
			env.Setenv("API", api.URL)
			env.Setenv("API_KEY", anthropictest.Key)
			return os.MkdirAll(env.WorkDir+"/home", 0o755)
		},
	})
}
