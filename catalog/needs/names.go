package needs

import (
	_ "embed" // the tables
	"slices"
	"strings"
	"sync"
)

// The tables: a module of Python's own to a line; and the modules of packages:
// a line is a module, or a package within one, and the name of its package where
// that differs.
var (
	//go:embed stdlib.txt
	standardText string
	//go:embed modules.txt
	modulesText string
)

var pythonStandard = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(standardText) {
		names[name] = true
	}
	return names
})

var knownModules = sync.OnceValue(func() map[string]string {
	packages := map[string]string{}
	for line := range strings.Lines(modulesText) {
		switch words := strings.Fields(line); {
		case len(words) == 0 || words[0] == "#":
		case len(words) == 1:
			packages[words[0]] = words[0]
		default:
			packages[words[0]] = words[1]
		}
	}
	return packages
})

// namespaces are packages of Python in which others have theirs.
var namespaces = []string{"google", "google.cloud", "azure", "azure.ai", "azure.storage", "azure.mgmt", "ruamel"}

// isNamespace reports whether what is imported from a module may be a package
// of its own.
func isNamespace(module string) bool { return slices.Contains(namespaces, module) }

// packageOf returns the package that has a module, and whether that is known. If
// it is not, the package may have the module's name, or not.
func packageOf(module string) (name string, known bool) {
	for part := module; part != ""; {
		if name, known := knownModules()[part]; known {
			return name, true
		}
		above := part[:max(strings.LastIndexByte(part, '.'), 0)]
		if isNamespace(above) {
			return strings.ReplaceAll(part, ".", "-"), false
		}
		part = above
	}
	top, _, _ := strings.Cut(module, ".")
	return top, false
}
