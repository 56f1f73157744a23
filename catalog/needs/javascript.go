package needs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// nodeStandard are the modules of Node.js itself.
var nodeStandard = strings.Fields(`assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http
	http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys test timers tls trace_events tty
	url util v8 vm wasi worker_threads zlib bun deno`)

var (
	lineComment  = regexp.MustCompile(`(?m)^\s*//.*$`)
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	// A statement begins a line or follows another; a call stands anywhere.
	moduleNames = []*regexp.Regexp{
		regexp.MustCompile(`(?m)(?:^|[;}])\s*(?:import|export)\s+(?:type\s+)?(?:[\w$*\s{},]+?\s+from\s*)?["']([^"'\n]+)["']`),
		regexp.MustCompile(`\b(?:require|import)\s*\(\s*["']([^"'\n]+)["']\s*\)`),
		regexp.MustCompile(`\brequire\.resolve\(\s*["']([^"'\n]+)["']`),
	}
	npmName = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*`)
)

// readJavaScript reads a script of Node.js.
func (f *finder) readJavaScript(name string) {
	if text, ok := f.readScript(name); ok {
		f.importJavaScript(name, 1, text)
	}
}

// importJavaScript adds the packages that a program imports, which begins on a
// line of a file.
func (f *finder) importJavaScript(name string, line int, text string) {
	blank := func(comment string) string { return strings.Repeat("\n", strings.Count(comment, "\n")) }
	text = blockComment.ReplaceAllStringFunc(lineComment.ReplaceAllString(text, ""), blank)
	for _, form := range moduleNames {
		at, counted := line, 0
		for _, found := range form.FindAllStringSubmatchIndex(text, -1) {
			at, counted = at+strings.Count(text[counted:found[2]], "\n"), found[2]
			f.importNpm(Source{File: name, Line: at}, text[found[2]:found[3]])
		}
	}
}

// importNpm adds the package of a module, which has its name.
func (f *finder) importNpm(source Source, module string) {
	name := npmName.FindString(module)
	rest := strings.TrimPrefix(module, name)
	if name == "" || rest != "" && rest[0] != '/' || strings.Contains(module, ":") || slices.Contains(nodeStandard, name) {
		return
	}
	r, ok := parseNpm(name)
	if !ok {
		return
	}
	r.Import, r.Sources = name, []Source{source}
	f.inferredNpm.add(r)
}

// readManifest reads a package.json, and the lock beside it.
func (f *finder) readManifest(name string) {
	text, ok := f.open(name)
	if !ok {
		return
	}
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(text), &manifest); err != nil {
		f.note(Source{File: name}, "it is no valid JSON, or not as a package.json has to be")
		return
	}
	if len(manifest.Dependencies) == 0 {
		return
	}
	f.manifests++
	whole := true
	for i, dependency := range slices.Sorted(maps.Keys(manifest.Dependencies)) {
		if i == maxGathered {
			f.declaredNpm.more, whole = f.declaredNpm.more+len(manifest.Dependencies)-i, false
			break
		}
		wanted := dependency + "@" + manifest.Dependencies[dependency]
		source := Source{File: name, Line: lineOf(text, `"`+dependency+`"`, 1)}
		r, ok := parseNpm(wanted)
		if !ok {
			whole = false
			f.note(source, fmt.Sprintf(elsewhere, shown(wanted)))
			continue
		}
		r.Sources = []Source{source}
		f.declaredNpm.add(r)
	}
	if whole {
		f.readLock(path.Join(path.Dir(name), "package-lock.json"), manifest.Dependencies)
	}
}

// readLock reads a package-lock.json, which is taken where all that it names
// comes from an index with a digest.
func (f *finder) readLock(name string, dependencies map[string]string) {
	if _, err := fs.Stat(f.skill, name); err != nil {
		return
	}
	text, ok := f.open(name)
	if !ok {
		return
	}
	var lock struct {
		LockfileVersion int
		Packages        map[string]struct {
			Resolved, Integrity string
			Link                bool
		}
	}
	if err := json.Unmarshal([]byte(text), &lock); err != nil || lock.LockfileVersion < 2 {
		f.note(Source{File: name}, "the lock is not taken: it is no valid one of npm 7 or newer")
		return
	}
	for at, locked := range lock.Packages {
		fromIndex := locked.Resolved == "" || strings.HasPrefix(locked.Resolved, "https://") || strings.HasPrefix(locked.Resolved, "http://")
		if at != "" && (locked.Link || !fromIndex || locked.Integrity == "" || !strings.HasPrefix(at, "node_modules/")) {
			f.note(Source{File: name}, fmt.Sprintf("the lock is not taken: %s is not from an index, by a digest", shown(at)))
			return
		}
	}
	// Nothing of the manifest counts but what is asked for.
	manifest, err := json.Marshal(map[string]any{"dependencies": dependencies})
	if err == nil {
		f.found.NpmManifest, f.found.NpmLock = manifest, []byte(text)
	}
}
