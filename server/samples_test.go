package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// needPython skips a test where there is no Python, unless SKILLS_MCP_REQUIRE
// names it.
func needPython(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("python3")
	testenv.Need(t, "python", err)
}

// samples serves the samples to one client. The test runs beside others:
// starting Python takes most of its time.
func samples(t *testing.T) *client {
	t.Helper()
	needBash(t)
	t.Parallel()
	return newFixture(t, testdata.Valid()).connect(t)
}

func (c *client) readFile(t *testing.T, name, path string) answer {
	t.Helper()
	return c.call(t, "readResource", map[string]any{"name": name, "path": path})
}

// sample returns the text of a file of a sample.
func sample(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata.Valid(), filepath.FromSlash(path)))
	must(t, err)
	return string(text)
}

// trial is a run of a sample's program, and what its SKILL.md promises of it.
type trial struct {
	arguments map[string]any
	exit      int
	stdout    string   // part of it
	stderr    string   // part of it
	artifacts []string // all of them
}

func (c *client) try(t *testing.T, name string, trials ...trial) {
	t.Helper()
	for _, trial := range trials {
		run := c.exec(t, name, trial.arguments)
		var artifacts []string
		for _, artifact := range run.Artifacts {
			artifacts = append(artifacts, artifact.Filename)
		}
		if run.exit() != trial.exit || !strings.Contains(run.Stdout, trial.stdout) || !strings.Contains(run.Stderr, trial.stderr) || !slices.Equal(artifacts, trial.artifacts) {
			t.Errorf("%v: got %+v, want exit code %d, stdout with %q, stderr with %q and the artifacts %q",
				trial.arguments, run, trial.exit, trial.stdout, trial.stderr, trial.artifacts)
		}
		if failed := run.Error.Code == "execution_failed"; failed != (trial.exit != 0) {
			t.Errorf("%v: error %+v", trial.arguments, run.Error)
		}
	}
}

func script(path string, args ...string) map[string]any {
	if args == nil {
		args = []string{}
	}
	return map[string]any{"script": path, "args": args}
}

func withStdin(arguments map[string]any, stdin string) map[string]any {
	arguments["stdin"] = stdin
	return arguments
}

// artifact reads an artifact of the last run by its link, both ways.
func (c *client) artifact(t *testing.T, name string, run ran, path string) contents {
	t.Helper()
	for _, artifact := range run.Artifacts {
		if artifact.Filename != path {
			continue
		}
		read, fault := c.readURI(t, artifact.ID)
		if fault != nil {
			t.Fatalf("%s: %+v", artifact.ID, *fault)
		}
		if read.MIMEType != artifact.MIMEType && artifact.MIMEType != "" {
			t.Errorf("%s is linked as %s, and read as %s", path, artifact.MIMEType, read.MIMEType)
		}
		if a := c.readFile(t, name, artifact.ID); a.IsError || read.Text != "" && a.text() != read.Text {
			t.Errorf("readResource of %s: %s", artifact.ID, a.text())
		}
		return read
	}
	t.Fatalf("%s is no artifact of %+v", path, run)
	return contents{}
}

// TestValidationSkill follows skills-system-validation step by step, as a
// model would.
func TestValidationSkill(t *testing.T) {
	const name = "skills-system-validation"
	c := samples(t)
	t.Run("1 discovery", func(t *testing.T) {
		var page struct {
			Skills []struct{ Name, Description, URI string }
		}
		a := c.call(t, "findSkills", map[string]any{"query": "check that the skills system works"})
		must(t, json.Unmarshal(a.Structured, &page))
		if len(page.Skills) == 0 || page.Skills[0].Name != name {
			t.Fatalf("the search does not find it: %s", a.text())
		}
		if want := "description: " + page.Skills[0].Description + "\n"; !strings.Contains(sample(t, name+"/SKILL.md"), want) {
			t.Errorf("its description is %q", page.Skills[0].Description)
		}
		if n := strings.Count(c.call(t, "findSkills", map[string]any{}).text(), "- "+name+": "); n != 1 {
			t.Errorf("it is listed %d times", n)
		}
		for _, method := range []string{"resources/list", "prompts/list", "skills/list"} {
			c.all(t, method)
		}
		if told := c.transcript(); strings.Contains(told, "SSV-") || strings.Contains(told, testdata.Dir()) {
			t.Error("a marker, or a path of the host, was told before its step")
		}
	})
	t.Run("2 activation", func(t *testing.T) {
		text := c.call(t, "activate", map[string]any{"name": name}).text()
		_, body, _ := strings.Cut(strings.TrimPrefix(sample(t, name+"/SKILL.md"), "---\n"), "\n---\n")
		if !strings.Contains(text, strings.TrimSpace(body)) || !strings.Contains(text, "SSV-BODY-7f3a91") || !strings.Contains(text, "SSV-END-c20d44") {
			t.Errorf("the body is not whole:\n%s", text)
		}
		if strings.Contains(text, "---\nname:") || strings.Contains(text, "Zażółć") || strings.Contains(text, `"primes"`) || strings.Contains(text, "#!/") {
			t.Errorf("more than the body was told:\n%s", text)
		}
	})
	t.Run("3 reference", func(t *testing.T) {
		text := c.readFile(t, name, "references/REFERENCE.md").text()
		if !strings.Contains(text, "SSV-REFERENCE-58be02") || !strings.Contains(text, "Zażółć gęślą jaźń - Ærøskøbing - 日本語 - ½ × ¾") {
			t.Errorf("the reference reads %s", text)
		}
	})
	t.Run("4 asset", func(t *testing.T) {
		var fixture struct {
			Marker string
			Primes []int
			Sum    int
		}
		must(t, json.Unmarshal([]byte(c.readFile(t, name, "assets/fixture.json").text()), &fixture))
		for _, prime := range fixture.Primes {
			fixture.Sum -= prime
		}
		if fixture.Marker != "SSV-ASSET-e41c76" || fixture.Sum != 0 {
			t.Errorf("the asset reads %+v", fixture)
		}
	})
	t.Run("5 traversal", func(t *testing.T) { validateTraversal(t, c, name) })
	t.Run("6 execution", func(t *testing.T) { validateExecution(t, c, name) })
	t.Run("6 execution without a sandbox", func(t *testing.T) {
		c := newFixture(t, testdata.Valid(), "sandbox=off").connect(t)
		a := c.call(t, "exec", map[string]any{"name": name, "script": "scripts/echo.sh"})
		if a.code() != "sandbox_unavailable" || strings.Contains(a.text(), "SSV-ECHO") {
			t.Errorf("exec: %s", a.text())
		}
	})
}

func validateTraversal(t *testing.T, c *client, name string) {
	for path, code := range map[string]string{
		"../SKILL.md": "invalid_path", "references/../../SKILL.md": "invalid_path", "/etc/passwd": "invalid_path", "references/no-such-file.md": "file_not_found",
	} {
		if a := c.readFile(t, name, path); a.code() != code || !strings.Contains(a.text(), path) || !strings.Contains(a.text(), "\nNext: ") {
			t.Errorf("readResource of %s: %s, want %s", path, a.text(), code)
		}
		if read, fault := c.readURI(t, "skill://"+name+"/"+path); fault == nil || fault.Data.Code != code {
			t.Errorf("resources/read of %s: %+v %+v, want %s", path, read, fault, code)
		}
	}
	if a := c.readFile(t, name, "references"); a.text() != "Directory references:\n- references/REFERENCE.md (text/markdown, 1.0 kB)\n" {
		t.Errorf("the directory reads %s", a.text())
	}
	if _, fault := c.readURI(t, "skill://"+name+"/references"); fault == nil || fault.Data.Code != "is_directory" {
		t.Errorf("the directory is read as a file: %+v", fault)
	}
}

func validateExecution(t *testing.T, c *client, name string) {
	run := c.exec(t, name, script("scripts/echo.sh", "hello", "two words", "$(touch pwned); *"))
	want := "SSV-ECHO-93d6af\nargc=3\narg 1: <hello>\narg 2: <two words>\narg 3: <$(touch pwned); *>\n"
	if run.exit() != 0 || run.Stdout != want || len(run.Artifacts) != 0 {
		t.Errorf("echo.sh: %+v", run)
	}
	c.try(t, name,
		trial{script("scripts/echo.sh", "--exit", "7"), 7, "argc=0", "", nil},
		trial{script("scripts/echo.sh", "--exit", "255"), 255, "", "", nil},
		trial{script("scripts/echo.sh", "--exit", "256"), 2, "", "wants a number", nil},
		trial{map[string]any{"command": "scripts/echo.sh 'a b' | scripts/echo.sh", "cwd": "skill"}, 0, "argc=0", "", nil},
	)
	for what, arguments := range map[string]map[string]any{
		"another program":  {"command": "id"},
		"one after it":     {"command": "scripts/echo.sh x; id", "cwd": "skill"},
		"one inside":       {"command": `scripts/echo.sh "$(id)"`, "cwd": "skill"},
		"a writing":        {"command": "scripts/echo.sh > out.txt", "cwd": "skill"},
		"no script":        {"script": "assets/fixture.json"},
		"its own document": {"script": "SKILL.md"},
	} {
		arguments["name"] = name
		if a := c.call(t, "exec", arguments); a.code() != "permission_denied" || a.Structured != nil {
			t.Errorf("%s: %s", what, a.text())
		}
	}
}

func TestSampleLogTriage(t *testing.T) {
	c := samples(t)
	const name, triage = "log-triage", "scripts/triage.sh"
	const pattern = "| 10 | ERROR | `checkout: order # failed: no connection within # ms request=#` |"
	c.try(t, name,
		trial{script(triage, "assets/sample.log"), 0, pattern, "", []string{"log-triage.md"}},
		trial{withStdin(script(triage, "--fail-on", "error", "--out", "größe.md", "-"), sample(t, "log-triage/assets/sample.log")), 1, pattern, "found FATAL", []string{"größe.md"}},
		trial{withStdin(script(triage), "\n"), 4, "", "no line of standard input", nil},
		trial{script(triage, "--top", "0", "x"), 2, "", "--top wants", nil},
		trial{script(triage, "none.log"), 3, "", "no file 'none.log'", nil},
		trial{script(triage, "--since", "2026-05-04T11", "assets/sample.log"), 4, "", "", nil},
	)
	run := c.exec(t, name, script(triage, "--since", "2026-05-04T09", "--top", "1", "assets/sample.log"))
	if report := c.artifact(t, name, run, "log-triage.md"); !strings.HasPrefix(run.Stdout, report.Text) || report.MIMEType != "text/markdown" {
		t.Errorf("the report is %+v, and was printed as %s", report, run.Stdout)
	}
	if a := c.call(t, "exec", map[string]any{"name": name, "command": "rm log-triage.md"}); a.code() != "permission_denied" {
		t.Errorf("rm: %s", a.text())
	}
}

func TestSampleReleaseNotes(t *testing.T) {
	c := samples(t)
	const name, arguments = "release-notes", "1.4.0 operators"
	for _, text := range []string{
		c.call(t, "activate", map[string]any{"name": name, "arguments": arguments}).text(),
		string(c.ask(t, "prompts/get", map[string]any{"name": name, "arguments": map[string]string{"arguments": arguments}}).Result),
	} {
		if !strings.Contains(text, "# Release notes for "+arguments) || !strings.Contains(text, "What was asked for: `"+arguments+"`.") ||
			strings.Contains(text, "$ARGUMENTS") || strings.Contains(text, "ARGUMENTS: ") {
			t.Errorf("the arguments are not in their places:\n%s", text)
		}
	}
	for _, path := range []string{"references/style/users.md", "references/style/operators.md", "references/style/developers.md", "references/checklist.md", "references/examples/before-and-after.md"} {
		if a := c.readFile(t, name, path); a.text() != sample(t, name+"/"+path) {
			t.Errorf("%s reads %s", path, a.text())
		}
	}
	if a := c.call(t, "exec", map[string]any{"name": name, "command": "true"}); a.code() != "permission_denied" {
		t.Errorf("a skill that may only read runs: %s", a.text())
	}
}

func TestSampleReportWriter(t *testing.T) {
	c := samples(t)
	const name, begin = "report-writer", "scripts/new_report.sh"
	run := c.exec(t, name, script(begin, "--template", "findings", "Slow checkout in May"))
	report := c.artifact(t, name, run, "slow-checkout-in-may.md")
	if want := strings.ReplaceAll(sample(t, name+"/assets/templates/findings.md"), "{{title}}", "Slow checkout in May"); report.Text != want {
		t.Errorf("the report reads %s", report.Text)
	}
	c.try(t, name,
		trial{script(begin, "Slow checkout in May"), 5, "", "exists already", nil},
		trial{script(begin, "--template", "incident", "Ausfall in Zürich"), 0, "started ausfall-in-zürich.md", "", []string{"ausfall-in-zürich.md"}},
		trial{script(begin, "--template", "none", "X"), 3, "", "there are: findings incident", nil},
		trial{script(begin, "--template", "../../SKILL", "X"), 3, "", "no template", nil},
		trial{script(begin), 2, "", "usage:", nil},
	)
}

// TestSampleTableStyle: a skill inside of another one is a skill of its own,
// below the other's path.
func TestSampleTableStyle(t *testing.T) {
	c := samples(t)
	const name, uri = "table-style", "skill://report-writer/skills/table-style/SKILL.md"
	for _, method := range []string{"resources/list", "skills/list"} {
		if uris := c.all(t, method); !slices.Contains(uris, uri) || len(uris) != 9 {
			t.Errorf("%s gives %q", method, uris)
		}
	}
	if read, fault := c.readURI(t, uri); fault != nil || read.Text != sample(t, "report-writer/skills/table-style/SKILL.md") {
		t.Errorf("%s: %+v %+v", uri, read, fault)
	}
	for skill, path := range map[string]string{name: "references/numbers.md", "report-writer": "skills/table-style/references/numbers.md"} {
		if a := c.readFile(t, skill, path); a.text() != sample(t, "report-writer/skills/table-style/references/numbers.md") {
			t.Errorf("%s of %s reads %s", path, skill, a.text())
		}
	}
	if a := c.readFile(t, name, "../../SKILL.md"); a.code() != "invalid_path" {
		t.Errorf("the outer skill is read from the inner one: %s", a.text())
	}
	needPython(t)
	const tidy = "scripts/tidy_table.py"
	c.try(t, name,
		trial{withStdin(script(tidy), "|a|n|\n|--|--|\n|x|12|\n"), 0, "| a   |   n |\n| --- | --: |\n| x   |  12 |\n", "", nil},
		trial{withStdin(script(tidy), "no table"), 4, "", "no table", nil},
		trial{script(tidy, "table.md"), 2, "", "takes no arguments", nil},
	)
}

func TestSampleCSVProfile(t *testing.T) {
	c := samples(t)
	needPython(t)
	const name, profile = "csv-profile", "scripts/profile_csv.py"
	run := c.exec(t, name, script(profile, "--sample"))
	if run.exit() != 0 || !strings.Contains(run.Stdout, "| temperature_c | number | 1 | 54 | 6 to 25.8, mean 15.3932 |") {
		t.Fatalf("--sample: %+v", run)
	}
	var measured struct {
		Rows    int
		Columns []struct{ Name, Type string }
	}
	must(t, json.Unmarshal([]byte(c.artifact(t, name, run, "profile.json").Text), &measured))
	if measured.Rows != 60 || len(measured.Columns) != 6 || measured.Columns[0].Name != "station" {
		t.Errorf("profile.json holds %+v", measured)
	}
	if chart := c.artifact(t, name, run, "chart.svg"); !strings.HasPrefix(chart.Text, "<svg ") || chart.MIMEType != "image/svg+xml" {
		t.Errorf("chart.svg is %+v", chart)
	}
	both := []string{"chart.svg", "profile.json"}
	c.try(t, name,
		trial{withStdin(script(profile, "--chart", "b", "-"), "a,b\n1,2\n3\n"), 0, "1 rows have another number of fields than the header; first at line 3.", "", both},
		trial{withStdin(script(profile, "--delimiter", "tab", "-"), "größe\tb\n1\t2\n"), 0, "| größe | integer |", "", both},
		trial{withStdin(script(profile, "--chart", "none", "-"), "a,b\n1,2\n"), 4, "", "no column 'none'", nil},
		trial{withStdin(script(profile, "-"), ""), 4, "", "is empty", nil},
		trial{withStdin(script(profile, "-"), "a\x00b"), 4, "", "NUL", nil},
		trial{script(profile, "none.csv"), 3, "", "no file 'none.csv'", nil},
		trial{script(profile), 2, "", "give either a FILE or --sample", nil},
	)
}

func TestSampleBrandKit(t *testing.T) {
	c := samples(t)
	const name = "brand-kit"
	a := c.readFile(t, name, "assets/logo mark.png")
	i := slices.IndexFunc(a.Content, func(part answerPart) bool { return part.Type == "image" })
	if i < 0 || a.Content[i].MIMEType != "image/png" || size(t, a.Content[i].Data) != [2]int{96, 96} {
		t.Errorf("the mark is read as %+v", a)
	}
	if read, fault := c.readURI(t, "skill://brand-kit/assets/logo%20mark.png"); fault != nil || size(t, read.Blob) != [2]int{96, 96} {
		t.Errorf("the mark has no URI: %+v", fault)
	}
	for _, path := range []string{"assets/Farbtöne.csv", "references/größe & form.md", "references/tone.md"} {
		if a := c.readFile(t, name, path); a.text() != sample(t, name+"/"+path) {
			t.Errorf("%s reads %s", path, a.text())
		}
	}
	for path, mime := range map[string]string{"assets/palette.aco": "", "assets/letterhead.docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"} {
		a := c.readFile(t, name, path)
		if len(a.Content) != 2 || a.Content[1].Type != "resource" || mime != "" && a.Content[1].Resource.MIMEType != mime {
			t.Fatalf("%s is read as %+v", path, a)
		}
		if data, err := base64.StdEncoding.DecodeString(a.Content[1].Resource.Blob); err != nil || string(data) != sample(t, name+"/"+path) {
			t.Errorf("%s reads other bytes (%v)", path, err)
		}
	}
	needPython(t)
	const swatch = "scripts/swatch.py"
	run := c.exec(t, name, script(swatch, "Nordlicht", "moosgrün", "#F7F9FB"))
	if picture := c.artifact(t, name, run, "swatch.png"); size(t, picture.Blob) != [2]int{192, 64} || picture.MIMEType != "image/png" {
		t.Errorf("the picture is %s of %v", picture.MIMEType, size(t, picture.Blob))
	}
	c.try(t, name,
		trial{script(swatch, "--contrast", "Polarnacht", "Schnee"), 0, "15.14:1 (readable)", "", nil},
		trial{script(swatch, "--contrast", "Nebel", "Schnee"), 1, "too low for text", "", nil},
		trial{script(swatch, "--all", "--out", "alle Töne.png"), 0, "7 colours", "", []string{"alle Töne.png"}},
		trial{script(swatch, "Pink"), 3, "", "unknown colour 'Pink'", nil},
		trial{script(swatch, "--all", "--out", "no/such/x.png"), 5, "", "cannot write", nil},
		trial{script(swatch), 2, "", "usage:", nil},
	)
}

// size returns width and height of a PNG in base64.
func size(t *testing.T, encoded string) [2]int {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(encoded)
	must(t, err)
	config, err := png.DecodeConfig(bytes.NewReader(data))
	must(t, err)
	return [2]int{config.Width, config.Height}
}

func TestSampleUnicodeDetective(t *testing.T) {
	c := samples(t)
	const name, examine = "unicode-detective", "scripts/examine.py"
	if a := c.call(t, "activate", map[string]any{"name": name}); !strings.Contains(a.text(), "Allowed tools: Read, Bash(scripts/examine.py:*). Anything else is denied.") {
		t.Errorf("the activation does not say what is allowed:\n%s", a.text())
	}
	needPython(t)
	c.try(t, name,
		trial{script(examine, "assets/suspects.txt"), 1, "22 findings: bidi, compatibility, control, invisible, mixed-script, mojibake, normal-form, odd-space", "", nil},
		trial{script(examine, "--text", "pаypal.com"), 1, "1:1  mixed-script", "", nil},
		trial{script(examine, "--text", "paypal.com"), 0, "nothing found", "", nil},
		trial{withStdin(script(examine, "--json", "-"), "a\u200bb"), 1, `"detail": "U+200B ZERO WIDTH SPACE"`, "", nil},
		trial{withStdin(script(examine, "--clean", "-"), "a\u200bb"), 1, "ab", "", nil},
		trial{script(examine, "none.txt"), 3, "", "no file 'none.txt'", nil},
		trial{script(examine), 2, "", "usage:", nil},
	)
}

func TestSampleUnitConvert(t *testing.T) {
	c := samples(t)
	const name = "unit-convert"
	text := c.call(t, "activate", map[string]any{"name": name}).text()
	for _, tool := range []string{"convert", "convert_list", "list_units"} {
		if !strings.Contains(text, "\n- "+tool+": ") {
			t.Errorf("the activation does not list %s:\n%s", tool, text)
		}
	}
	tool := func(name string, input map[string]any) map[string]any {
		return map[string]any{"tool": name, "input": input}
	}
	for what, arguments := range map[string]map[string]any{
		"a missing value": tool("convert", map[string]any{"from": "mi", "to": "km"}), "a text as value": tool("convert", map[string]any{"value": "1", "from": "mi", "to": "km"}),
		"an unknown key": tool("convert", map[string]any{"value": 1, "from": "mi", "to": "km", "x": 1}), "an unknown kind": tool("list_units", map[string]any{"kind": "love"}),
	} {
		arguments["name"] = name
		if a := c.call(t, "exec", arguments); a.code() != "invalid_arguments" {
			t.Errorf("%s: %s", what, a.text())
		}
	}
	needPython(t)
	run := c.exec(t, name, tool("convert_list", map[string]any{"values": []float64{1, 2.5}, "from": "km", "to": "m"}))
	if table := c.artifact(t, name, run, "converted.csv"); table.Text != "km,m\n1,1000\n2.5,2500\n" || table.MIMEType != "text/csv" {
		t.Errorf("converted.csv is %+v", table)
	}
	const convert = "scripts/convert.py"
	c.try(t, name,
		trial{tool("convert", map[string]any{"value": 26.2188, "from": "mi", "to": "km"}), 0, `"result": 42.1951`, "", nil},
		trial{tool("convert", map[string]any{"value": -40, "from": "°F", "to": "°C", "digits": 3}), 0, `"result": -40`, "", nil},
		trial{tool("convert", map[string]any{"value": 1, "from": "furlong", "to": "km"}), 3, "", "unknown unit 'furlong'", nil},
		trial{tool("convert", map[string]any{"value": 1, "from": "kg", "to": "km"}), 4, "", "measures mass", nil},
		trial{tool("list_units", map[string]any{"kind": "length"}), 0, `{"length": ["nm", "µm",`, "", nil},
		trial{script(convert, "convert", "--value", "26.2188", "--from", "mi", "--to", "km"), 0, `"result": 42.1951`, "", nil},
		trial{script(convert, "convert", "--value", "x", "--from", "mi", "--to", "km"), 2, "", "'x' is not a number", nil},
	)
}
