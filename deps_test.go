// Package skillsmcp_test holds the rules that no single package can: which
// room may import which, and which alone may import a library.
package skillsmcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/skills-mcp/skills-mcp"

// roomImports says what each room may import of ours, its own packages aside.
// A room is a top-level directory; "." is the module's root, and internal
// holds small things that several rooms need and none of them owns.
var roomImports = map[string][]string{
	".":           {},
	"internal":    {},
	"catalog":     {"internal"},
	"policy":      {"internal"},
	"sandbox":     {"internal"},
	"resources":   {"catalog", "internal"},
	"server":      {"catalog", "resources", "policy", "sandbox", "internal"},
	"cmd":         {"catalog", "resources", "policy", "sandbox", "server", "internal"},
	"testdata":    {},
	"integration": {},
}

// testLeaves are for tests alone, those of every room: a package may import
// them in its tests, or where it is itself for tests.
var testLeaves = []string{"internal/testenv", "internal/testfiles"}

// sealedLibraries may be imported only by the package named, or below it.
var sealedLibraries = map[string]string{
	"github.com/mark3labs/mcp-go":   "server",
	"github.com/docker/docker":      "sandbox/docker/internal/engine",
	"github.com/docker/go-units":    "sandbox/docker/internal/engine",
	"github.com/moby/moby":          "sandbox/docker/internal/engine",
	"github.com/docker/cli":         "sandbox/docker/internal/engine",
	"github.com/containerd/errdefs": "sandbox/docker/internal/engine",
}

// vagueNames say nothing about what a package holds.
var vagueNames = []string{"utils", "util", "common", "helpers", "types", "models"}

// goPackage is what `go list -json` tells of a package that matters here.
type goPackage struct {
	ImportPath   string
	Name         string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string // transitive, without test imports
}

// imports returns the package's direct imports, those of its tests included.
func (p goPackage) imports() []string {
	all := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	slices.Sort(all)
	return slices.Compact(all)
}

// inModule returns importPath relative to the module's root, "." for the root
// itself, and whether the package is ours.
func inModule(importPath string) (dir string, ours bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// room returns the top-level directory of a directory in the module.
func room(dir string) string {
	top, _, _ := strings.Cut(dir, "/")
	return top
}

// within reports whether importPath is root or lies below it.
func within(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}

// violations returns one line for each rule that a package of ours breaks.
func violations(packages []goPackage) []string {
	var found []string
	for _, p := range packages {
		dir, ours := inModule(p.ImportPath)
		if !ours {
			continue
		}
		found = append(found, nameViolations(p, dir)...)
		found = append(found, roomViolations(p, dir)...)
		found = append(found, libraryViolations(p, dir)...)
	}
	slices.Sort(found)
	return found
}

func nameViolations(p goPackage, dir string) []string {
	if slices.Contains(vagueNames, p.Name) || slices.Contains(vagueNames, path.Base(dir)) {
		return []string{fmt.Sprintf("%s: the package's name says nothing about what it holds", dir)}
	}
	return nil
}

func roomViolations(p goPackage, dir string) []string {
	allowed, known := roomImports[room(dir)]
	if !known {
		return []string{fmt.Sprintf("%s: no such room", dir)}
	}
	var found []string
	for _, imported := range p.imports() {
		target, ours := inModule(imported)
		switch {
		case slices.Contains(testLeaves, target):
			if slices.Contains(p.Imports, imported) && !slices.Contains(p.Imports, "testing") {
				found = append(found, fmt.Sprintf("%s: imports %s, which is for tests", dir, target))
			}
		case !ours || room(target) == room(dir) || slices.Contains(allowed, room(target)):
		case room(target) == "testdata" && room(dir) != "integration" && !slices.Contains(p.Imports, imported):
			// Tests of every room make their fixtures there.
		default:
			found = append(found, fmt.Sprintf("%s: imports %s", dir, target))
		}
	}
	return slices.Concat(found, sandboxViolations(p, dir), resourcesViolations(p, dir), serverViolations(p, dir))
}

// resourcesViolations holds the order of resources: staging and the URIs stand
// on contained, which knows no skill, and neither knows the other.
func resourcesViolations(p goPackage, dir string) []string {
	banned := map[string][]string{
		"resources":           {"resources/staging"},
		"resources/contained": {"catalog", "resources", "resources/staging"},
		"resources/staging":   {"resources"},
	}[dir]
	var found []string
	for _, imported := range p.Imports {
		if target, ours := inModule(imported); ours && slices.Contains(banned, target) {
			found = append(found, fmt.Sprintf("%s: imports %s", dir, target))
		}
	}
	return found
}

// serverImports says what each package below server may import of ours: other
// packages there by their names, and other rooms. None imports server itself,
// and what speaks to clients knows nothing of skills and sandboxes.
var serverImports = map[string][]string{
	"display": {},
	"failure": {"policy", "resources", "sandbox", "internal"},
	"schema":  {"failure", "internal"},
	"skills":  {"failure", "catalog", "policy", "resources", "internal"},

	"jsonrpc": {},
	"request": {},
	"client":  {"jsonrpc"},
	"router":  {"client", "failure", "jsonrpc"},
	"stream":  {"client", "failure", "jsonrpc", "router"},
	"stdio":   {"client", "failure", "jsonrpc", "request", "router", "stream"},
	"web":     {"client", "failure", "jsonrpc", "request", "router", "stream"},
}

func serverViolations(p goPackage, dir string) []string {
	name, below := strings.CutPrefix(dir, "server/")
	if !below {
		return nil
	}
	name = strings.TrimPrefix(name, "internal/")
	allowed, known := serverImports[name]
	if !known {
		return []string{fmt.Sprintf("%s: no such part of server", dir)}
	}
	var found []string
	for _, imported := range p.imports() {
		target, ours := inModule(imported)
		if !ours || target == dir || slices.Contains(testLeaves, target) || room(target) == "testdata" {
			continue
		}
		part, below := strings.CutPrefix(target, "server/internal/")
		if !below {
			part = room(target)
		}
		if !slices.Contains(allowed, part) {
			found = append(found, fmt.Sprintf("%s: imports %s", dir, target))
		}
	}
	return found
}

// sandboxImports says what each part of sandbox may import of the others. The
// port, "", knows none of them, and no backend knows another. Tests may use the
// contract suite, and workspaces as a server has them.
var sandboxImports = map[string][]string{
	"":            {},
	"internal":    {"", "command"},
	"command":     {""},
	"queue":       {""},
	"workspaces":  {"", "internal"},
	"local":       {"", "command", "internal"},
	"docker":      {"", "command", "internal"},
	"host":        {"", "command", "internal"},
	"sandboxtest": {"", "internal"},
}

// sandboxViolations holds sandbox's own order.
func sandboxViolations(p goPackage, dir string) []string {
	if room(dir) != "sandbox" {
		return nil
	}
	part := strings.Split(dir+"/", "/")[1]
	allowed, known := sandboxImports[part]
	if !known {
		return []string{fmt.Sprintf("%s: no such part of sandbox", dir)}
	}
	var found []string
	for _, imported := range p.imports() {
		target, ours := inModule(imported)
		if !ours || room(target) != "sandbox" {
			continue
		}
		other := strings.Split(target+"/", "/")[1]
		inTest := !slices.Contains(p.Imports, imported) && (other == "sandboxtest" || other == "workspaces")
		if other != part && !slices.Contains(allowed, other) && !inTest {
			found = append(found, fmt.Sprintf("%s: imports %s", dir, target))
		}
	}
	return found
}

func libraryViolations(p goPackage, dir string) []string {
	var found []string
	for _, imported := range p.imports() {
		for library, owner := range sealedLibraries {
			if within(imported, library) && !within(dir, owner) {
				found = append(found, fmt.Sprintf("%s: imports %s, which only %s may", dir, imported, owner))
			}
		}
	}
	// The inner rooms must not even be linked with the protocol.
	if r := room(dir); r == "catalog" || r == "resources" || r == "policy" || r == "sandbox" {
		for _, dep := range p.Deps {
			if within(dep, "github.com/mark3labs/mcp-go") && !slices.Contains(p.imports(), dep) {
				found = append(found, fmt.Sprintf("%s: depends on %s", dir, dep))
			}
		}
	}
	return found
}

// listPackages runs `go list` over the module for one platform.
func listPackages(t *testing.T, goos string) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Imports,TestImports,XTestImports,Deps", "./...", "./testdata")
	list.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", list.Args, err, stderr.String())
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			packages := listPackages(t, goos)
			for _, wanted := range []string{"catalog", "policy", "resources", "sandbox", "server", "cmd/skills-mcp"} {
				if !slices.ContainsFunc(packages, func(p goPackage) bool { return p.ImportPath == module+"/"+wanted }) {
					t.Errorf("go list does not know %s: the rules would hold over nothing", wanted)
				}
			}
			for _, violation := range violations(packages) {
				t.Error(violation)
			}
		})
	}
}

func TestImportRulesFindWhatBreaksThem(t *testing.T) {
	t.Parallel()
	ours := func(dir string, imports ...string) goPackage {
		return goPackage{ImportPath: module + "/" + dir, Name: path.Base(dir), Imports: imports}
	}
	tests := []struct {
		name string
		give goPackage
		want []string
	}{
		{"a room uses what it may", ours("resources", module+"/catalog", "os"), nil},
		{"a backend uses the port and what backends share", ours("sandbox/local", module+"/sandbox", module+"/sandbox/command", module+"/sandbox/internal/disk"), nil},
		{
			"a backend's tests use the suite and workspaces",
			goPackage{ImportPath: module + "/sandbox/local", Name: "local", XTestImports: []string{module + "/sandbox/sandboxtest", module + "/sandbox/workspaces"}},
			nil,
		},
		{"the server uses mcp-go", ours("server/internal/router", "github.com/mark3labs/mcp-go/mcp"), nil},
		{"a transport uses the router", ours("server/internal/web", module+"/server/internal/router"), nil},
		{"another transport", ours("server/internal/web", module+"/server/internal/stdio"), []string{"server/internal/web: imports server/internal/stdio"}},
		{"a transport that knows skills", ours("server/internal/web", module+"/resources"), []string{"server/internal/web: imports resources"}},
		{"the server from a transport", ours("server/internal/web", module+"/server"), []string{"server/internal/web: imports server"}},
		{"a part of server without rules", ours("server/internal/attic"), []string{"server/internal/attic: no such part of server"}},
		{
			"a test uses the fixtures",
			goPackage{ImportPath: module + "/catalog", Name: "catalog", TestImports: []string{module + "/testdata"}},
			nil,
		},
		{
			"the integration tests use the fixtures",
			goPackage{ImportPath: module + "/integration/hosts", Name: "hosts", TestImports: []string{module + "/testdata"}},
			[]string{"integration/hosts: imports testdata"},
		},
		{"the fixtures outside of tests", ours("catalog", module+"/testdata"), []string{"catalog: imports testdata"}},
		{"a stranger does as it likes", goPackage{ImportPath: "example.com/utils", Name: "utils"}, nil},
		{"another room", ours("policy", module+"/catalog"), []string{"policy: imports catalog"}},
		{"a caller", ours("catalog/watch", module+"/server"), []string{"catalog/watch: imports server"}},
		{
			"another room, from a test only",
			goPackage{ImportPath: module + "/policy", Name: "policy", XTestImports: []string{module + "/sandbox"}},
			[]string{"policy: imports sandbox"},
		},
		{"ours from the integration tests", ours("integration", module+"/server"), []string{"integration: imports server"}},
		{
			"the integration tests use what runs the binary",
			goPackage{ImportPath: module + "/integration/hosts", Name: "hosts", TestImports: []string{module + "/integration/program"}},
			nil,
		},
		{"ours from what runs the binary", ours("integration/program", module+"/sandbox"), []string{"integration/program: imports sandbox"}},
		{
			"what runs the binary, from another room's tests",
			goPackage{ImportPath: module + "/cmd/skills-mcp", Name: "main", XTestImports: []string{module + "/integration/program"}},
			[]string{"cmd/skills-mcp: imports integration/program"},
		},
		{
			"a test uses what is for tests",
			goPackage{ImportPath: module + "/policy", Name: "policy", TestImports: []string{module + "/internal/testenv"}},
			nil,
		},
		{"a package for tests uses what is for tests", ours("integration/program", module+"/internal/testenv", "testing"), nil},
		{
			"what is for tests, elsewhere",
			ours("sandbox", module+"/internal/testfiles"),
			[]string{"sandbox: imports internal/testfiles, which is for tests"},
		},
		{"another backend", ours("sandbox/local", module+"/sandbox/docker"), []string{"sandbox/local: imports sandbox/docker"}},
		{"workspaces from a backend", ours("sandbox/local", module+"/sandbox/workspaces"), []string{"sandbox/local: imports sandbox/workspaces"}},
		{"the suite from a backend", ours("sandbox/local", module+"/sandbox/sandboxtest"), []string{"sandbox/local: imports sandbox/sandboxtest"}},
		{"a part of sandbox without rules", ours("sandbox/attic"), []string{"sandbox/attic: no such part of sandbox"}},
		{"a backend from the port", ours("sandbox", module+"/sandbox/local"), []string{"sandbox: imports sandbox/local"}},
		{"skills from contained", ours("resources/contained", module+"/catalog"), []string{"resources/contained: imports catalog"}},
		{"the protocol in main", ours("cmd/skills-mcp", "github.com/mark3labs/mcp-go/server"),
			[]string{"cmd/skills-mcp: imports github.com/mark3labs/mcp-go/server, which only server may"}},
		{"Docker's client in the port", ours("sandbox", "github.com/docker/docker/client"),
			[]string{"sandbox: imports github.com/docker/docker/client, which only sandbox/docker/internal/engine may"}},
		{
			"the protocol behind a library",
			goPackage{ImportPath: module + "/policy", Name: "policy", Deps: []string{"github.com/mark3labs/mcp-go/mcp"}},
			[]string{"policy: depends on github.com/mark3labs/mcp-go/mcp"},
		},
		{"a vague name", ours("internal/utils"), []string{"internal/utils: the package's name says nothing about what it holds"}},
		{"a room without rules", ours("attic"), []string{"attic: no such room"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := violations([]goPackage{test.give})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
