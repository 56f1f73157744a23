package needs_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
)

// files is a skill's directory, by path.
func files(texts map[string]string) fs.FS {
	skill := fstest.MapFS{}
	for name, text := range texts {
		skill[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return skill
}

// lines returns what was found, a line each: a kind, the text, whether it is a
// guess, and where it is from.
func lines(t *testing.T, found needs.Needs) (all []string) {
	t.Helper()
	sources := func(list []needs.Source) string {
		var texts []string
		for _, source := range list {
			texts = append(texts, fmt.Sprintf("%s:%d", source.File, source.Line))
		}
		return strings.Join(texts, " ")
	}
	add := func(kind string, list []needs.Requirement) {
		for _, r := range list {
			line := kind + " " + r.Text
			if r.Import != "" {
				line += " import " + r.Import
			}
			if r.Guess {
				line += " guess"
			}
			if len(r.Hashes) > 0 {
				line += fmt.Sprintf(" %d hashes", len(r.Hashes))
			}
			all = append(all, line+" < "+sources(r.Sources))
		}
	}
	add("python", found.Python)
	add("npm", found.Npm)
	for _, version := range found.RequiresPython {
		all = append(all, "requires-python "+version)
	}
	hints := func(kind string, list []needs.Hint) {
		for _, h := range list {
			line := kind + " " + h.Name
			if h.Declared {
				line += " declared"
			}
			all = append(all, line+" < "+sources(h.Sources))
		}
	}
	hints("variable", found.Variables)
	hints("host", found.Hosts)
	for _, note := range found.Notes {
		all = append(all, fmt.Sprintf("note %s:%d %s", note.File, note.Line, note.Text))
	}
	return all
}

func TestFind(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0a", 32)
	for name, test := range map[string]struct {
		give map[string]string
		want []string
	}{
		"nothing": {map[string]string{"SKILL.md": "Do well.\n"}, nil},
		"a block of PEP 723 says all of its script": {
			map[string]string{"scripts/a.py": "#!/usr/bin/env -S uv run --script\n# /// script\n# requires-python = \">= 3.9\"\n# dependencies = [\n#   \"Requests >= 2 , < 3\",\n" +
				"#   \"rich[jupyter]; python_version > '3.8'\",\n# ]\n# ///\nimport requests, numpy\n"},
			[]string{"python requests>=2,<3 < scripts/a.py:5", "python rich[jupyter]; python_version > '3.8' < scripts/a.py:6", "requires-python >=3.9"},
		},
		"one script's block is not another's": {
			map[string]string{"a.py": "# /// script\n# dependencies = [\"six\"]\n# ///\nimport six\n", "b.py": "import numpy\n"},
			[]string{"python numpy import numpy < b.py:1", "python six < a.py:2"},
		},
		"two blocks are none": {
			map[string]string{"a.py": "# /// script\n# dependencies = [\"six\"]\n# ///\n\n# /// script\n# dependencies = []\n# ///\nimport yaml\n"},
			[]string{"python pyyaml import yaml < a.py:8", "note a.py:1 there is more than one block of metadata, so that none counts"},
		},
		"a block that is no TOML": {
			map[string]string{"a.py": "# /// script\n# dependencies = [six]\n# ///\n"},
			[]string{"note a.py:2 the block of metadata is no valid TOML"},
		},
		"requirements": {
			map[string]string{
				"requirements.txt":     "# all\nPillow==10.*  # images\n\nfoo_Bar [x,y] ~= 1.0\n-r more/requirements-more.txt\nsix==1 \\\n  --hash=sha256:" + hash + " \\\n  --hash=sha256:" + hash + "\n",
				"requirements-dev.txt": "pytest\n", "more/requirements-more.txt": "-r ../requirements.txt\nidna\n",
				"scripts/a.py": "import PIL, other\n", "SKILL.md": "`pip install other`",
			},
			[]string{
				"python foo-bar[x,y]~=1.0 < requirements.txt:4", "python idna < more/requirements-more.txt:2",
				"python pillow==10.* < requirements.txt:2", "python six==1 2 hashes < requirements.txt:6",
			},
		},
		"what is no requirement of the index": {
			map[string]string{"requirements.txt": "--index-url https://evil.example/simple\n--extra-index-url=https://evil.example\n-e .\n./local.whl\ngit+https://evil.example/x.git\n" +
				"x @ https://evil.example/x.whl\nsix --index-url https://evil.example\nsix ; python_version > '3' --index-url https://evil.example\n-r /etc/passwd\n-r ../../x.txt\n" +
				"six --hash=md5:00\na;b;c\n" + strings.Repeat("a", 400) + "\n"},
			[]string{
				`note requirements.txt:1 the option "--index-url" is not followed`, `note requirements.txt:2 the option "--extra-index-url" is not followed`,
				`note requirements.txt:3 the option "-e" is not followed`,
				`note requirements.txt:4 "./local.whl" is not taken: packages come from the index, by name and version`,
				`note requirements.txt:5 "git+https://evil.example/x.git" is not taken: packages come from the index, by name and version`,
				`note requirements.txt:6 "x @ https://evil.example/x.whl" is not taken: packages come from the index, by name and version`,
				`note requirements.txt:7 "six --index-url https://evil.example" is not taken: packages come from the index, by name and version`,
				`note requirements.txt:8 "six ; python_version > '3' --index-url https://evil.example" is not taken: packages come from the index, by name and version`,
				`note requirements.txt:9 the option "-r" is not followed`, `note requirements.txt:10 the option "-r" is not followed`,
				`note requirements.txt:11 the hash "md5:00" is no SHA-256`,
				`note requirements.txt:12 "a;b;c" is not taken: packages come from the index, by name and version`,
				`note requirements.txt:13 "` + strings.Repeat("a", 80) + `…" is not taken: packages come from the index, by name and version`,
			},
		},
		"a project": {
			map[string]string{"pyproject.toml": "[build-system]\nrequires = [\"evil\"]\n[project]\nrequires-python = \">=3.9\"\ndependencies = [\n  \"click>=8\",\n]\n", "sub/pyproject.toml": "[project\n"},
			[]string{"python click>=8 < pyproject.toml:6", "requires-python >=3.9", "note sub/pyproject.toml:2 it is no valid TOML, or not as a pyproject.toml has to be"},
		},
		"imports": {
			map[string]string{
				"scripts/a.py": "'''\nimport nothing\n'''\nimport os, json as j, cv2, \\\n  yaml.nodes\nfrom bs4 import BeautifulSoup; import docx\nfrom . import sibling\nfrom core.x import y\n" +
					"from google.cloud import storage, vision\nfrom google import genai\nfrom numpy import (  # import no\n  array,\n)\nx = 'import not' # import neither\ndef f():\n\timport strange_one\n" +
					"try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib\nif TYPE_CHECKING:\n    import pandas\nprint(\"import quoted\")\n",
				"core/x.py": "y = 1\n",
				"tool":      "#!/usr/bin/env python3\nimport PIL.Image\n", "assets/t.py": "import flask\n", "tests/a.py": "import pytest\n",
				"nested/SKILL.md": "x", "nested/a.py": "import flask\n", "node_modules/a.py": "import flask\n", "data": "import flask\n",
			},
			[]string{
				"python beautifulsoup4 import bs4 < scripts/a.py:6", "python google-cloud-storage import google < scripts/a.py:9",
				"python google-cloud-vision import google.cloud.vision guess < scripts/a.py:9", "python google-genai import google < scripts/a.py:10",
				"python numpy import numpy < scripts/a.py:11", "python opencv-python-headless import cv2 < scripts/a.py:4",
				"python pillow import PIL < tool:2", "python python-docx import docx < scripts/a.py:6", "python pyyaml import yaml < scripts/a.py:4",
				"python strange-one import strange_one guess < scripts/a.py:16",
			},
		},
		"what texts tell to install": {
			map[string]string{"SKILL.md": "Run pip install nothing of this.\n\nFirst `pip install -U \"pypdf>=4\" 'rich'`, or `python -m pip install -r requirements.txt --index-url x y_z`.\n\n" +
				"```bash\nsudo pip3 install six && pip install other # pip install comment\nuv pip install --system idna | tee log\nuv run --with 'httpx>=0.2,<1,click' --with=toml python x.py\n" +
				"uvx ruff check .\npip install <package> package-name .\nnpm install -g docx@^9 @scope/tool && npx -y mmdc in.mmd\n```\n\n" +
				"~~~python\nfrom pypdf import PdfReader\nimport fitz\n~~~\n```js\nconst { Document } = require('docx');\nimport sharp from 'sharp';\nimport fs from 'node:fs';\n```\n" +
				"```yaml\npip install not\n```\n"},
			[]string{
				"python click < SKILL.md:8", "python httpx>=0.2,<1 < SKILL.md:8", "python idna < SKILL.md:7", "python pymupdf import fitz < SKILL.md:16",
				"python pypdf>=4 < SKILL.md:3 SKILL.md:15", "python rich < SKILL.md:3", "python ruff < SKILL.md:9", "python six < SKILL.md:6", "python toml < SKILL.md:8",
				"python y-z < SKILL.md:3",
				"npm @scope/tool@* < SKILL.md:11", "npm docx@^9 < SKILL.md:11 SKILL.md:19", "npm mmdc@* < SKILL.md:11", "npm sharp@* import sharp < SKILL.md:20",
			},
		},
		"scripts of Node.js": {
			map[string]string{"a.mjs": "// import x from 'commented'\n/*\nimport y from 'commented';\n*/\nimport a, {\n  b\n} from '@scope/a/sub';\nimport 'side';\nexport * from 'again';\n" +
				"await import('dynamic'); require(\"req/x\"); require('./local'); require('fs'); import z from '#own'; import u from 'https://evil.example/x.js'\n" +
				"fetch('https://api.example.org/v1', {headers: {Authorization: process.env.SOME_TOKEN}});\n"},
			[]string{
				"npm @scope/a@* import @scope/a < a.mjs:7", "npm again@* import again < a.mjs:9", "npm dynamic@* import dynamic < a.mjs:10",
				"npm req@* import req < a.mjs:10", "npm side@* import side < a.mjs:8", "variable SOME_TOKEN < a.mjs:11",
				"host api.example.org < a.mjs:11", "host evil.example < a.mjs:10",
			},
		},
		"a manifest": {
			map[string]string{"package.json": "{\n\"dependencies\": {\n\"docx\": \"^9\",\n\"evil\": \"git+https://evil.example/x\",\n\"near\": \"file:../x\"\n},\n\"scripts\": {\"postinstall\": \"evil\"}}", "a.js": "require('docx')"},
			[]string{
				"npm docx@^9 < package.json:3",
				`note package.json:4 "evil@git+https://evil.example/x" is not taken: packages come from the index, by name and version`,
				`note package.json:5 "near@file:../x" is not taken: packages come from the index, by name and version`,
			},
		},
		"variables and hosts": {
			map[string]string{
				"SKILL.md": "---\nname: x\ndescription: y\nmetadata:\n  openclaw:\n    requires: {env: [WEATHER_KEY, 'no name']}\n    primaryEnv: MAIN\n---\nSet MY_API_KEY, $HOME and ALL_CAPS.\n",
				"a.py":     "import os\nos.environ['A_B'], os.getenv(\"C\", 1), os.getenv('DD'), os.environ.get('HOME')\nu = 'https://api.Weather.example:8443/x' # http://localhost/ https://10.0.0.1/ http://www.w3.org/x\n",
				"b.sh":     "curl -H \"x: $MY_API_KEY\" https://files.weather.example/\n",
			},
			[]string{
				"variable A_B < a.py:2", "variable DD < a.py:2", "variable MAIN declared < SKILL.md:7", "variable MY_API_KEY < SKILL.md:9 b.sh:1",
				"variable WEATHER_KEY declared < SKILL.md:6", "host api.weather.example < a.py:3", "host files.weather.example < b.sh:1",
			},
		},
		"no UTF-8, and too large": {
			map[string]string{"a.py": "\ufeffimport six\r\n\xff\xfe\n", "b.py": strings.Repeat("#", 300<<10)},
			[]string{"python six import six < a.py:1", "note b.py:0 it has more than 256 KiB"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := needs.Find(files(test.give))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, lines(t, found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLockIsTakenWhereAllComesFromAnIndex(t *testing.T) {
	t.Parallel()
	const manifest = `{"name": "x", "scripts": {"install": "evil"}, "dependencies": {"a": "1"}}`
	good := `"node_modules/a": {"resolved": "https://registry.example/a.tgz", "integrity": "sha512-AA=="}`
	for name, test := range map[string]struct {
		packages string
		taken    bool
	}{
		"good":              {good, true},
		"git":               {`"node_modules/a": {"resolved": "git+ssh://git@evil.example/a", "integrity": "sha512-AA=="}`, false},
		"no digest":         {`"node_modules/a": {"resolved": "https://registry.example/a.tgz"}`, false},
		"a link":            {good + `, "node_modules/b": {"resolved": "../..", "link": true}`, false},
		"outside":           {good + `, "../evil": {"resolved": "https://registry.example/a.tgz", "integrity": "sha512-AA=="}`, false},
		"a file of the own": {`"node_modules/a": {"resolved": "file:a.tgz", "integrity": "sha512-AA=="}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := needs.Find(files(map[string]string{
				"package.json": manifest, "package-lock.json": `{"lockfileVersion": 3, "packages": {"": {}, ` + test.packages + `}}`,
			}))
			if err != nil {
				t.Fatal(err)
			}
			if got := found.NpmLock != nil; got != test.taken {
				t.Errorf("taken: %v, notes %v", got, found.Notes)
			}
			if test.taken && string(found.NpmManifest) != `{"dependencies":{"a":"1"}}` {
				t.Errorf("the manifest is %s", found.NpmManifest)
			}
			if len(found.Npm) != 1 || found.Npm[0].Text != "a@1" {
				t.Errorf("needs %v", found.Npm)
			}
		})
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	skill := files(map[string]string{"a.py": "import six\n"}).(fstest.MapFS)
	skill["requirements.txt"] = &fstest.MapFile{Data: []byte("../outside.txt"), Mode: fs.ModeSymlink | 0o777}
	skill["pipe.py"] = &fstest.MapFile{Data: []byte("import evil"), Mode: fs.ModeNamedPipe | 0o666}
	found, err := needs.Find(skill)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"python six import six < a.py:1"}, lines(t, found)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMuchIsBounded(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for i := range 1100 {
		texts[fmt.Sprintf("s%04d.py", i)] = fmt.Sprintf("import m%d, n%d\nos.environ['VAR_%d']\n'https://h%d.example/'\n", i, i, i, i)
	}
	found, err := needs.Find(files(texts))
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Python) != 200 || len(found.Variables) != 64 || len(found.Hosts) != 64 {
		t.Errorf("%d packages, %d variables, %d hosts", len(found.Python), len(found.Variables), len(found.Hosts))
	}
	if !slices.ContainsFunc(found.Notes, func(n needs.Note) bool { return strings.HasPrefix(n.Text, "2000 packages") }) ||
		!slices.ContainsFunc(found.Notes, func(n needs.Note) bool { return strings.HasPrefix(n.Text, "only the first 1000 files") }) {
		t.Errorf("notes %v", found.Notes)
	}
}

func TestUnreadableSkill(t *testing.T) {
	t.Parallel()
	if _, err := needs.Find(files(nil)); err != nil {
		t.Errorf("an empty one: %v", err)
	}
	if _, err := needs.Find(broken{}); err == nil {
		t.Error("no error for a directory that cannot be read")
	}
}

type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

// FuzzFind holds what is found to what installers are given: no text can be
// read as an option, a URL, a path, or as two.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		"import a.b, c\n", "# /// script\n# dependencies = [\"a>1\"]\n# ///\n", "a[b]>=1; python_version > '3'\n", `{"dependencies": {"a": "^1"}}`,
		"`pip install 'a>1' b`\n```\nnpx x@1\n```\n", "'''\nimport x", "from google.cloud import (a,\nb)", "---\nmetadata: {requires: {env: [A_B]}}\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"SKILL.md", "a.py", "a.js", "requirements.txt", "pyproject.toml", "package.json", "run"} {
			found, err := needs.Find(files(map[string]string{name: text}))
			if err != nil {
				t.Fatal(err)
			}
			for _, requirement := range slices.Concat(needs.Texts(found.Python), needs.Texts(found.Npm)) {
				if strings.HasPrefix(requirement, "-") || strings.ContainsAny(requirement, "\n\r\x00#\\") || strings.Contains(requirement, "://") || strings.Contains(requirement, " -") {
					t.Errorf("%s: %q", name, requirement)
				}
			}
		}
	})
}
