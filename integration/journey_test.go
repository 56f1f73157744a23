package integration

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	triage    = "log-triage"
	triageURI = "skill://log-triage/SKILL.md"
)

// checkLists reads every list, to its last page.
func checkLists(t *testing.T, p *peer) {
	t.Helper()
	tools := p.list(t, "listTools", "tools")
	for _, want := range []string{"activate", "readResource", "exec", "findSkills"} {
		if !slices.Contains(names(tools), want) {
			t.Errorf("tools = %q, without %s", names(tools), want)
		}
	}
	for _, tool := range tools {
		for _, hint := range []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, set := tool.Annotations[hint]; !set {
				t.Errorf("tool %s has no %s", tool.Name, hint)
			}
		}
	}
	resources := p.list(t, "listResources", "resources")
	i := slices.IndexFunc(resources, func(r named) bool { return r.URI == triageURI })
	switch {
	case i < 0:
		t.Errorf("resources lack %s", triageURI)
	case resources[i].MIMEType != "text/markdown":
		t.Errorf("%s is %s, want text/markdown", triageURI, resources[i].MIMEType)
	case resources[i].Name != triage || resources[i].Description == "":
		t.Errorf("%s has name %q and description %q", triageURI, resources[i].Name, resources[i].Description)
	}
	templates := p.list(t, "listResourceTemplates", "resourceTemplates")
	if len(templates) == 0 {
		t.Error("no resource templates")
	}
	for what, list := range map[string][]string{"resources": names(resources), "prompts": names(p.list(t, "listPrompts", "prompts"))} {
		for _, want := range append(sampleNames(t), crowd()...) {
			if !slices.Contains(list, want) {
				t.Errorf("%d %s, without %s", len(list), what, want)
			}
		}
	}
}

// found is findSkills' structured content.
type found struct {
	Skills []named `json:"skills"`
}

func findSkills(t *testing.T, p *peer, query string) []named {
	t.Helper()
	var result found
	if err := json.Unmarshal(p.tool(t, "findSkills", map[string]any{"query": query}).StructuredContent, &result); err != nil {
		t.Fatal(err)
	}
	return result.Skills
}

func checkFinding(t *testing.T, p *peer) {
	t.Helper()
	skills := findSkills(t, p, "what went wrong in this log")
	if len(skills) == 0 || skills[0].Name != triage {
		t.Errorf("findSkills gives %q, want %s first", names(skills), triage)
	}
}

func checkActivation(t *testing.T, p *peer) {
	t.Helper()
	result := p.tool(t, "activate", map[string]any{"name": triage, "arguments": "the harbour's log"})
	text := result.text()
	if result.IsError || !strings.HasPrefix(text, `<skill_content name="`+triage+`"`) || !strings.Contains(text, "the harbour's log") {
		t.Errorf("activate: %s", text)
	}
	if result.StructuredContent != nil {
		t.Error("activate has structured content, which hides its text from models")
	}
}

func checkReading(t *testing.T, p *peer) {
	t.Helper()
	const file = "references/severities.md"
	onDisk := contentsOf(t, filepath.Join(samples, triage, file))
	if text := p.tool(t, "readResource", map[string]any{"name": triage, "path": file}).text(); text != onDisk {
		t.Errorf("readResource %s = %q, want %q", file, text, onDisk)
	}
	listing := p.tool(t, "readResource", map[string]any{"name": triage, "path": "references"})
	for _, entry := range []string{"severities.md", "next-steps.md"} {
		if listing.IsError || !strings.Contains(listing.text(), entry) {
			t.Errorf("the listing of references lacks %s: %s", entry, listing.text())
		}
	}
	for uri, file := range map[string]string{
		triageURI:                    "log-triage/SKILL.md",
		"skill://log-triage/" + file: "log-triage/" + file,
		"skill://brand-kit/references/gr%C3%B6%C3%9Fe%20&%20form.md": "brand-kit/references/größe & form.md",
	} {
		got := p.resource(t, uri)
		if want := contentsOf(t, filepath.Join(samples, file)); got.Text != want || got.URI != uri {
			t.Errorf("resources/read %s = %+v, want %q", uri, got, want)
		}
	}
}

// checkImage reads an image of a sample as a tool's image content and as a
// resource. Its name has a space.
func checkImage(t *testing.T, p *peer) {
	t.Helper()
	const skill, file, uri = "brand-kit", "assets/logo mark.png", "skill://brand-kit/assets/logo%20mark.png"
	onDisk := contentsOf(t, filepath.Join(samples, skill, file))
	result := p.tool(t, "readResource", map[string]any{"name": skill, "path": file})
	images := result.ofType("image")
	if len(images) != 1 || images[0].MIMEType != "image/png" || decoded(t, images[0].Data) != onDisk {
		t.Errorf("readResource %s gives %d images, want the file as image/png: %s", file, len(images), result.text())
	}
	resource := p.resource(t, uri)
	if resource.MIMEType != "image/png" || decoded(t, resource.Blob) != onDisk {
		t.Errorf("resources/read %s is %s and not the file", uri, resource.MIMEType)
	}
}

func decoded(t *testing.T, data string) string {
	t.Helper()
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

// ran is exec's structured content.
type ran struct {
	ExitCode  *int   `json:"exitCode"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	Workspace string `json:"workspace"`
	Artifacts []struct {
		Path string `json:"filename"`
		URI  string `json:"id"`
	} `json:"artifacts"`
	Sandbox struct {
		Backend string `json:"backend"`
		Tier    string `json:"tier"`
	} `json:"sandbox"`
}

func execute(t *testing.T, p *peer, arguments map[string]any) (toolResult, ran) {
	t.Helper()
	result := p.tool(t, "exec", arguments)
	var structured ran
	if err := json.Unmarshal(result.StructuredContent, &structured); err != nil {
		t.Fatalf("exec %v: %v: %s", arguments, err, result.text())
	}
	return result, structured
}

func checkExecution(t *testing.T, p *peer) {
	t.Helper()
	result, run := execute(t, p, map[string]any{
		"name": triage, "script": "scripts/triage.sh", "args": []string{"--out", "Bericht für Anna.md", "assets/sample.log"},
	})
	if result.IsError || run.ExitCode == nil || *run.ExitCode != 0 || !strings.Contains(run.Stdout, "## By severity") {
		t.Fatalf("exec: %s", result.text())
	}
	if run.Sandbox.Backend != "unsafe-host" || run.Sandbox.Tier != "none" {
		t.Errorf("exec says it ran in %+v", run.Sandbox)
	}
	links := result.ofType("resource_link")
	if len(links) != 1 || !strings.HasPrefix(links[0].URI, "workspace://") {
		t.Fatalf("exec gives the links %+v, want one report in the workspace", links)
	}
	report := p.resource(t, links[0].URI)
	if !strings.Contains(run.Stdout, report.Text) || report.Text == "" {
		t.Errorf("%s = %q, want what the script printed", links[0].URI, report.Text)
	}
	if links[0].MIMEType != "text/markdown" || report.MIMEType != "text/markdown" {
		t.Errorf("%s is linked as %q and read as %q, want text/markdown", links[0].URI, links[0].MIMEType, report.MIMEType)
	}
	result, run = execute(t, p, map[string]any{
		"name": triage, "script": "scripts/triage.sh", "args": []string{"--top", "many"}, "workspace": run.Workspace,
	})
	if !result.IsError || run.ExitCode == nil || *run.ExitCode != 2 || !strings.Contains(run.Stderr, "--top wants a number") ||
		!strings.Contains(result.text(), "execution_failed") {
		t.Errorf("exec with a wrong argument: %s", result.text())
	}
}

func checkPrompt(t *testing.T, p *peer) {
	t.Helper()
	var prompt struct {
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
	}
	p.call(t, &prompt, "getPrompt", map[string]any{
		"name": triage, "arguments": map[string]any{"arguments": "since nine o'clock"},
	})
	if len(prompt.Messages) == 0 || !strings.Contains(prompt.Messages[0].Content.Text, "since nine o'clock") {
		t.Errorf("prompt %s: %+v", triage, prompt.Messages)
	}
}

// templateVariable finds the variables of a URI template.
var templateVariable = regexp.MustCompile(`\{\+?([A-Za-z_]+)\*?\}`)

func checkCompletion(t *testing.T, p *peer) {
	t.Helper()
	templates := p.list(t, "listResourceTemplates", "resourceTemplates")
	for _, template := range templates {
		variables := templateVariable.FindAllStringSubmatch(template.URITemplate, -1)
		if !strings.HasPrefix(template.URITemplate, "skill://") || len(variables) == 0 {
			continue
		}
		var completed struct {
			Completion struct {
				Values []string `json:"values"`
			} `json:"completion"`
		}
		p.call(t, &completed, "complete", map[string]any{
			"ref":      map[string]any{"type": "ref/resource", "uri": template.URITemplate},
			"argument": map[string]any{"name": variables[0][1], "value": "log-"},
		})
		if !slices.Contains(completed.Completion.Values, triage) {
			t.Errorf("%s completes log- to %q, want %s", template.URITemplate, completed.Completion.Values, triage)
		}
		return
	}
	t.Errorf("no template for skill:// among %+v", templates)
}

func checkErrors(t *testing.T, p *peer) {
	t.Helper()
	tests := []struct {
		tool      string
		arguments map[string]any
		code      string
	}{
		{"activate", map[string]any{"name": "log-triaje"}, "skill_not_found"},
		{"activate", map[string]any{"nom": triage}, "invalid_arguments"},
		{"readResource", map[string]any{"name": triage, "path": "references/none.md"}, "file_not_found"},
		{"readResource", map[string]any{"name": triage, "path": "../../../../etc/passwd"}, "invalid_path"},
		{"readResource", map[string]any{"name": triage, "path": "/etc/passwd"}, "invalid_path"},
		{"exec", map[string]any{"name": triage, "command": "id"}, "permission_denied"},
		{"exec", map[string]any{"name": triage, "script": "scripts/triage.sh", "workspace": "nobody's"}, "workspace_unknown"},
	}
	for _, test := range tests {
		result := p.tool(t, test.tool, test.arguments)
		if !result.IsError || !strings.HasPrefix(result.text(), test.code) {
			t.Errorf("%s %v: isError=%v %s, want %s", test.tool, test.arguments, result.IsError, result.text(), test.code)
		}
	}
	for _, uri := range []string{"skill://log-triage/none.md", "skill://log-triage/../../../../etc/passwd", "file:///etc/passwd"} {
		checkRefused(t, p, "readResource", map[string]any{"uri": uri})
	}
	checkRefused(t, p, "getPrompt", map[string]any{"name": "log-triaje"})
}

// checkRefused holds that a request is answered with an error that programs
// can tell from others.
func checkRefused(t *testing.T, p *peer, method string, params map[string]any) {
	t.Helper()
	var result any
	var refused *peerError
	err := p.try(t, &result, method, params)
	if !errors.As(err, &refused) || refused.Code != float64(-32602) || refused.Data.Code == "" {
		t.Errorf("%s %v = %v, %+v, want an error -32602 with data.code", method, params, result, err)
	}
}
