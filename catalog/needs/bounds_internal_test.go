package needs

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestManyPackages: of a skill that asks for as many packages as its files have
// room for only so many are kept while it is read, since each is compared with all
// others, and clients wait.
func TestManyPackages(t *testing.T) {
	t.Parallel()
	const asked = 15_000
	list := func(before, after string) string {
		var text strings.Builder
		for i := range asked {
			fmt.Fprintf(&text, "%sa%d%s", before, i, after)
		}
		return text.String()
	}
	for name, text := range map[string]string{
		"requirements.txt": list("", "\n"),
		"pyproject.toml":   "project.dependencies = [" + list("'", "',") + "]",
		"package.json":     `{"dependencies": {` + list(`"`, "\":\"\",\n") + `"z": ""}}`,
		"a.py":             list("import ", "\n"),
		"a.js":             list("import '", "'\n"),
		"SKILL.md":         "```\n" + list("npm i ", "\n") + "```\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := finder{skill: fstest.MapFS{name: {Data: []byte(text)}}}
			files, err := f.list()
			if err != nil {
				t.Fatal(err)
			}
			f.read(files)
			kept, more := 0, 0
			for _, g := range []gathered{f.declaredPython, f.inferredPython, f.declaredNpm, f.inferredNpm} {
				kept, more = kept+len(g.all), more+g.more
			}
			if kept != maxGathered || kept+more < asked {
				t.Errorf("%d are kept, and %d counted besides", kept, more)
			}
			if n := f.needs(); len(n.Python)+len(n.Npm) != maxRequirements {
				t.Errorf("%d of Python and %d of npm are taken", len(n.Python), len(n.Npm))
			}
		})
	}
}
