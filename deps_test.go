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

// imports says what may be imported of ours. A key is a directory and holds for
// all below it that has no key of its own; packages under one key may import
// each other. A value is a key, or one and all keys below it: "sandbox/...".
// Leaves below internal may be imported by all but what drives the built binary.
var imports = map[string][]string{
	".":        {},
	"internal": {},
	"policy":   {},

	// What reads a part of a skill knows the rules and no other part.
	"catalog":                      {"catalog/internal/..."},
	"catalog/internal/problem":     {},
	"catalog/internal/archive":     {"catalog/internal/problem"},
	"catalog/internal/frontmatter": {"catalog/internal/problem"},
	"catalog/internal/entryhead":   {"catalog/internal/problem", "catalog/internal/frontmatter"},
	"catalog/internal/metadata":    {"catalog/internal/problem", "catalog/internal/frontmatter"},
	"catalog/internal/index":       {"catalog/internal/problem", "catalog/internal/metadata"},
	"catalog/internal/toolsfile":   {"catalog/internal/problem"},
	"catalog/internal/watch":       {"catalog/internal/problem"},
	// needs knows files, and no catalog.
	"catalog/needs": {},

	// contained knows no skill, and neither do the two others each other.
	"resources":           {"catalog", "resources/contained", "resources/internal"},
	"resources/contained": {},
	"resources/staging":   {"catalog", "resources/contained", "resources/internal"},
	"resources/internal":  {"catalog", "resources/contained"},

	// The port knows none of the others, and no backend knows another.
	"sandbox":                  {},
	"sandbox/command":          {"sandbox"},
	"sandbox/internal":         {"sandbox", "sandbox/command"},
	"sandbox/changes":          {"sandbox", "sandbox/changes/internal"},
	"sandbox/changes/internal": {},
	"sandbox/environments":     {"sandbox", "sandbox/workspaces"},
	"sandbox/egress":           {"sandbox", "sandbox/egress/internal"},
	"sandbox/egress/internal":  {},
	"sandbox/merged":           {"sandbox", "sandbox/internal"},
	"sandbox/project":          {"sandbox"},
	"sandbox/queue":            {"sandbox"},
	"sandbox/workspaces":       {"sandbox", "sandbox/internal"},
	"sandbox/local":            {"sandbox", "sandbox/command", "sandbox/internal"},
	"sandbox/docker":           {"sandbox", "sandbox/command", "sandbox/internal", "sandbox/docker/internal"},
	"sandbox/host":             {"sandbox", "sandbox/command", "sandbox/internal", "sandbox/host/internal"},
	"sandbox/host/internal":    {"sandbox/internal"},
	"sandbox/hosted":           {"sandbox", "sandbox/command", "sandbox/internal"},
	"sandbox/sandboxtest":      {"sandbox", "sandbox/internal"},

	// Engines elsewhere plug into the backend, which does not know them.
	"sandbox/docker/internal": {"sandbox/internal"},
	"sandbox/docker/remote":   {"sandbox", "sandbox/docker", "sandbox/docker/internal", "sandbox/internal"},
	"sandbox/docker/image":    {"sandbox", "sandbox/docker", "sandbox/docker/internal"},

	"server": {"catalog", "catalog/needs", "resources/...", "policy", "sandbox/...", "server/internal/..."},

	// What speaks to clients knows nothing of skills and sandboxes.
	"server/internal/jsonrpc": {},
	"server/internal/request": {},
	"server/internal/client":  {"server/internal/jsonrpc"},
	"server/internal/router":  {"server/internal/client", "server/internal/display", "server/internal/failure", "server/internal/jsonrpc"},
	"server/internal/stream":  {"server/internal/client", "server/internal/failure", "server/internal/jsonrpc", "server/internal/router"},
	"server/internal/stdio": {"server/internal/client", "server/internal/failure", "server/internal/jsonrpc", "server/internal/request",
		"server/internal/router", "server/internal/stream"},
	"server/internal/web": {"server/internal/client", "server/internal/failure", "server/internal/jsonrpc", "server/internal/request",
		"server/internal/router", "server/internal/stream"},

	"server/internal/display": {},
	// What hosts show is the same whatever is shown.
	"server/internal/cards":   {},
	"server/internal/failure": {"policy", "resources/...", "sandbox/...", "server/internal/display"},
	"server/internal/consent": {"policy", "server/internal/display", "server/internal/failure", "server/internal/request"},
	"server/internal/schema":  {"server/internal/display", "server/internal/failure"},
	"server/internal/search":  {"catalog"},
	"server/internal/skills": {"catalog", "policy", "resources/...", "server/internal/consent", "server/internal/display", "server/internal/failure",
		"server/internal/request"},
	// What records requests knows nothing of what serves them.
	"server/internal/recorder": {"server/internal/failure", "server/internal/request"},
	"server/internal/requirement": {"catalog", "catalog/needs", "policy", "resources/...", "sandbox/...", "server/internal/access", "server/internal/display",
		"server/internal/packages", "server/internal/request",
		"server/internal/skills", "server/internal/workspace"},
	"server/internal/activation": {"catalog", "catalog/needs", "policy", "server/internal/access", "resources/...", "sandbox", "server/internal/display", "server/internal/failure",
		"server/internal/requirement", "server/internal/skills", "server/internal/shares"},
	"server/internal/advice": {"policy", "resources/...", "sandbox", "sandbox/command", "sandbox/project", "server/internal/display"},
	// packages joins what skills ask for with what was prepared.
	"server/internal/packages": {"catalog/needs", "sandbox/environments", "server/internal/display"},
	// access knows what carries out what is granted, and nothing of runs besides.
	"server/internal/access": {"catalog", "catalog/needs", "policy", "sandbox", "sandbox/egress", "sandbox/environments", "server/internal/consent", "server/internal/display", "server/internal/failure",
		"server/internal/packages"},
	// shares lends the user's directories to runs, and knows no skill.
	"server/internal/shares": {"policy", "resources/contained", "sandbox", "sandbox/changes", "sandbox/merged", "sandbox/project", "sandbox/workspaces",
		"server/internal/display", "server/internal/failure", "server/internal/request"},
	"server/internal/publish": {"catalog", "resources/...", "server/internal/activation", "server/internal/cards", "server/internal/display", "server/internal/failure",
		"server/internal/recorder", "server/internal/request", "server/internal/router", "server/internal/skills", "server/internal/shares", "server/internal/workspace"},
	"server/internal/updates": {"catalog", "resources/...", "sandbox", "sandbox/workspaces", "server/internal/client", "server/internal/skills",
		"server/internal/workspace"},
	"server/internal/library": {"catalog", "policy", "resources/...", "sandbox", "server/internal/display", "server/internal/skills"},
	"server/internal/execution": {"catalog", "policy", "server/internal/access", "resources/...", "sandbox", "sandbox/project", "sandbox/workspaces", "server/internal/advice",
		"server/internal/consent", "server/internal/display", "server/internal/failure", "server/internal/library", "server/internal/request", "server/internal/requirement",
		"server/internal/skills", "server/internal/shares", "server/internal/workspace"},
	"server/internal/tools": {"catalog", "policy", "resources/...", "sandbox", "sandbox/changes", "sandbox/workspaces", "server/internal/activation",
		"server/internal/cards", "server/internal/consent", "server/internal/display", "server/internal/execution", "server/internal/failure", "server/internal/recorder",
		"server/internal/request", "server/internal/schema", "server/internal/search", "server/internal/skills", "server/internal/shares", "server/internal/workspace"},
	"server/internal/workspace": {"catalog", "resources/...", "sandbox/...", "server/internal/display", "server/internal/failure",
		"server/internal/request"},

	"cmd/skills-mcp": {"catalog", "catalog/needs", "resources/...", "policy", "sandbox/...", "server", "cmd/skills-mcp/internal/..."},
	// What is shown to people knows nothing of what is shown.
	"cmd/skills-mcp/internal/exit":     {},
	"cmd/skills-mcp/internal/terminal": {"cmd/skills-mcp/internal/exit"},
	"cmd/skills-mcp/internal/records":  {"cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/calling":  {"resources/contained", "sandbox/workspaces", "server", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/hosted": {"catalog", "resources/staging", "sandbox", "sandbox/hosted", "cmd/skills-mcp/internal/settings", "cmd/skills-mcp/internal/terminal",
		"cmd/skills-mcp/internal/userfiles"},
	"cmd/skills-mcp/internal/listing": {"catalog", "policy", "resources/...", "server", "cmd/skills-mcp/internal/terminal"},
	// What authors need goes by no configuration.
	"cmd/skills-mcp/internal/imaging":     {"sandbox/docker/...", "cmd/skills-mcp/internal/exit", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/prompting":   {"catalog", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/schemas":     {"cmd/skills-mcp/internal/examples"},
	"cmd/skills-mcp/internal/scaffolding": {},
	"cmd/skills-mcp/internal/validating":  {"catalog", "resources/...", "cmd/skills-mcp/internal/listing", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/registering": {},
	"cmd/skills-mcp/internal/plugins":     {"catalog", "resources/contained"},
	"cmd/skills-mcp/internal/settings": {"catalog", "policy", "sandbox", "sandbox/docker", "sandbox/project", "sandbox/workspaces", "server",
		"cmd/skills-mcp/internal/exit", "cmd/skills-mcp/internal/plugins", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/backends": {"sandbox/...", "cmd/skills-mcp/internal/exit", "cmd/skills-mcp/internal/hosted", "cmd/skills-mcp/internal/settings"},
	"cmd/skills-mcp/internal/changesets": {"sandbox/changes", "server", "cmd/skills-mcp/internal/exit", "cmd/skills-mcp/internal/settings",
		"cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/granted": {"catalog", "policy", "resources/staging", "sandbox/local", "server", "cmd/skills-mcp/internal/exit",
		"cmd/skills-mcp/internal/settings", "cmd/skills-mcp/internal/terminal", "cmd/skills-mcp/internal/userfiles"},
	"cmd/skills-mcp/internal/preparing": {"catalog", "catalog/needs", "resources/staging", "sandbox", "sandbox/egress", "sandbox/environments", "sandbox/workspaces",
		"server", "cmd/skills-mcp/internal/granted", "cmd/skills-mcp/internal/settings", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/inspecting": {"catalog", "resources/...", "cmd/skills-mcp/internal/listing", "cmd/skills-mcp/internal/preparing",
		"cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/examples": {"catalog", "resources/...", "sandbox/workspaces", "server", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/developing": {"catalog", "cmd/skills-mcp/internal/examples", "cmd/skills-mcp/internal/inspecting", "cmd/skills-mcp/internal/listing",
		"cmd/skills-mcp/internal/terminal", "cmd/skills-mcp/internal/validating"},
	"cmd/skills-mcp/internal/completing": {"catalog", "cmd/skills-mcp/internal/registering", "cmd/skills-mcp/internal/settings", "cmd/skills-mcp/internal/terminal",
		"cmd/skills-mcp/internal/userfiles"},
	"cmd/skills-mcp/internal/diagnosing": {"catalog", "sandbox", "cmd/skills-mcp/internal/backends", "cmd/skills-mcp/internal/registering",
		"cmd/skills-mcp/internal/settings", "cmd/skills-mcp/internal/terminal"},
	"cmd/skills-mcp/internal/userfiles": {"policy", "sandbox/environments", "sandbox/project", "server", "cmd/skills-mcp/internal/changesets",
		"cmd/skills-mcp/internal/exit", "cmd/skills-mcp/internal/settings"},

	"testdata":    {},
	"integration": {},
}

// parts are directories in which every package has a key of its own.
var parts = []string{"cmd/skills-mcp", "sandbox", "server"}

// testImports says what tests may import besides, with all below it, by their
// room, or by their directory.
var testImports = map[string][]string{
	"resources": {"resources/internal/filetest"},
	"sandbox":   {"sandbox/sandboxtest", "sandbox/workspaces", "sandbox/docker/remote"},
	// Schemas are held to what reads the files.
	"cmd/skills-mcp/internal/schemas": {"catalog"},
	// The table of verdicts is the catalog's too.
	"integration/frontmatter": {"testdata"},
	// Environments are of use in a sandbox only.
	"sandbox/environments": {"sandbox/local", "sandbox/docker", "sandbox/egress"},
}

// testLeaves are for tests alone, those of every room: a package may import
// them in its tests, or where it is itself for tests.
var testLeaves = []string{"internal/testenv", "internal/testfiles", "internal/testprocess"}

// sealedLibraries may be imported only by the packages named, or below them.
var sealedLibraries = map[string][]string{
	"github.com/mark3labs/mcp-go":      {"server"},
	"go.yaml.in/yaml":                  {"internal/yamldoc", "catalog/internal/frontmatter", "catalog/needs", "internal/config"},
	"github.com/fsnotify/fsnotify":     {"catalog/internal/watch"},
	"github.com/bmatcuk/doublestar":    {"policy/paths", "internal/config"},
	"github.com/docker/docker":         {"sandbox/docker/internal/engine"},
	"github.com/docker/go-units":       {"sandbox/docker/internal/engine"},
	"github.com/moby/moby":             {"sandbox/docker/internal/engine"},
	"github.com/docker/cli":            {"sandbox/docker/internal/engine"},
	"github.com/containerd/errdefs":    {"sandbox/docker/internal/engine"},
	"github.com/aymanbagabas/go-udiff": {"sandbox/changes", "cmd/skills-mcp/internal/validating"},
	"github.com/tailscale/hujson":      {"cmd/skills-mcp/internal/registering"},
	"github.com/elazarl/goproxy":       {"sandbox/egress"},
	"github.com/zalando/go-keyring":    {"internal/secrets"},
	"github.com/kljensen/snowball":     {"server/internal/search"},
}

// testLibraries are for tests alone: no process pays for them.
var testLibraries = []string{"github.com/prometheus"}

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
		found = append(found, importViolations(p, dir)...)
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

// keyOf returns the key of [imports] that holds for a directory.
func keyOf(dir string) (key string, known bool) {
	for ; ; dir = path.Dir(dir) {
		if _, known := imports[dir]; known || dir == "." {
			return dir, known && dir != "."
		}
	}
}

func importViolations(p goPackage, dir string) []string {
	key, known := keyOf(dir)
	switch {
	case !known && dir != ".":
		return []string{fmt.Sprintf("%s: no such room", dir)}
	case dir != key && slices.Contains(parts, key):
		return []string{fmt.Sprintf("%s: no such part of %s", dir, key)}
	}
	var found []string
	for _, imported := range p.imports() {
		target, ours := inModule(imported)
		inTest := !slices.Contains(p.Imports, imported)
		switch {
		case !ours:
		case slices.Contains(testLeaves, target):
			if !inTest && !slices.Contains(p.Imports, "testing") {
				found = append(found, fmt.Sprintf("%s: imports %s, which is for tests", dir, target))
			}
		case mayImport(key, target):
		case inTest && slices.ContainsFunc(slices.Concat(testImports[room(dir)], testImports[dir]), func(allowed string) bool { return within(target, allowed) }):
		case inTest && room(target) == "testdata" && room(dir) != "integration":
			// Tests of every room make their fixtures there.
		default:
			found = append(found, fmt.Sprintf("%s: imports %s", dir, target))
		}
	}
	return found
}

// mayImport reports whether what a key holds for may import a directory.
func mayImport(key, dir string) bool {
	target, _ := keyOf(dir)
	return target == key || target == "internal" && key != "integration" || slices.ContainsFunc(imports[key], func(allowed string) bool {
		below, all := strings.CutSuffix(allowed, "/...")
		return target == allowed || all && within(target, below)
	})
}

func libraryViolations(p goPackage, dir string) []string {
	var found []string
	for _, library := range testLibraries {
		if at := slices.IndexFunc(p.Deps, func(dep string) bool { return within(dep, library) }); at >= 0 {
			found = append(found, fmt.Sprintf("%s: depends on %s, which is for tests", dir, p.Deps[at]))
		}
	}
	for _, imported := range p.imports() {
		for library, owners := range sealedLibraries {
			if within(imported, library) && !slices.ContainsFunc(owners, func(owner string) bool { return within(dir, owner) }) {
				found = append(found, fmt.Sprintf("%s: imports %s, which only %s may", dir, imported, strings.Join(owners, " and ")))
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
		{"a library for tests", goPackage{ImportPath: module + "/server", Name: "server", Deps: []string{"github.com/prometheus/common/expfmt"}},
			[]string{"server: depends on github.com/prometheus/common/expfmt, which is for tests"}},
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
		{"a part of the command without rules", ours("cmd/skills-mcp/internal/attic"), []string{"cmd/skills-mcp/internal/attic: no such part of cmd/skills-mcp"}},
		{"the server in what is shown", ours("cmd/skills-mcp/internal/terminal", module+"/server"), []string{"cmd/skills-mcp/internal/terminal: imports server"}},
		{"another backend", ours("sandbox/local", module+"/sandbox/docker"), []string{"sandbox/local: imports sandbox/docker"}},
		{"workspaces from a backend", ours("sandbox/local", module+"/sandbox/workspaces"), []string{"sandbox/local: imports sandbox/workspaces"}},
		{"the suite from a backend", ours("sandbox/local", module+"/sandbox/sandboxtest"), []string{"sandbox/local: imports sandbox/sandboxtest"}},
		{"a part of sandbox without rules", ours("sandbox/attic"), []string{"sandbox/attic: no such part of sandbox"}},
		{"a backend from the port", ours("sandbox", module+"/sandbox/local"), []string{"sandbox: imports sandbox/local"}},
		{"a part of the catalog from another", ours("catalog/internal/archive", module+"/catalog/internal/watch"),
			[]string{"catalog/internal/archive: imports catalog/internal/watch"}},
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
