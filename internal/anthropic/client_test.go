package anthropic_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/internal/anthropic/anthropictest"
)

func connect(t *testing.T, url string) *anthropic.Client {
	t.Helper()
	client, err := anthropic.New(anthropic.Options{BaseURL: url, Key: key(anthropictest.Key)})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func key(value string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return value, nil }
}

func greet(description string) []anthropic.SkillFile {
	return []anthropic.SkillFile{
		{Path: "greet/SKILL.md", Data: []byte("---\nname: greet\ndescription: " + description + "\n---\nGreet.\n")},
		{Path: "greet/scripts/greet it.sh", Data: []byte("echo hello\n")},
	}
}

// all collects what a list has.
func all[T any](t *testing.T, list iter.Seq2[T, error]) (found []T) {
	t.Helper()
	for one, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, one)
	}
	return found
}

// A skill is made, gets versions, and goes away with them.
func TestSkills(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	client, ctx := connect(t, api.URL), t.Context()
	skill, err := client.CreateSkill(ctx, greet("First."))
	if err != nil || skill.DisplayName != "greet" || skill.Source.Type != "custom" {
		t.Fatalf("%+v, %v", skill, err)
	}
	want := map[string]string{"SKILL.md": string(greet("First.")[0].Data), "scripts/greet it.sh": "echo hello\n"}
	if diff := cmp.Diff(want, api.SkillFiles(skill.ID, skill.LatestVersionID)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for range 4 { // more than a page
		if _, err := client.CreateVersion(ctx, skill.ID, greet("Next.")); err != nil {
			t.Fatal(err)
		}
	}
	now, err := client.Skill(ctx, skill.ID)
	versions := all(t, client.Versions(ctx, skill.ID))
	if err != nil || len(versions) != 5 || versions[0].ID != now.LatestVersionID || versions[4].ID != skill.LatestVersionID || versions[0].Name != "greet" {
		t.Errorf("%+v, %+v, %v", now, versions, err)
	}
	version, err := client.Version(ctx, skill.ID, versions[2].ID)
	if err != nil || version != versions[2] {
		t.Errorf("%+v, %v", version, err)
	}
	if err := client.DeleteSkill(ctx, skill.ID); err == nil {
		t.Error("a skill with versions is deleted")
	}
	for _, version := range versions {
		if err := client.DeleteVersion(ctx, skill.ID, version.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.DeleteSkill(ctx, skill.ID); err != nil {
		t.Error(err)
	}
	if left := all(t, client.Skills(ctx, "custom")); len(left) != 0 {
		t.Errorf("left are %+v", left)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	client, ctx := connect(t, api.URL), t.Context()
	uploaded, err := client.UploadFile(ctx, "in.csv", []byte("a,b\n"))
	if err != nil {
		t.Fatal(err)
	}
	made := api.AddFile("out.bin", bytes.Repeat([]byte("x"), 1000))
	if known, err := client.File(ctx, made); err != nil || known.SizeBytes != 1000 || !known.Downloadable || known.Filename != "out.bin" {
		t.Errorf("%+v, %v", known, err)
	}
	var content bytes.Buffer
	if err := client.Download(ctx, made, &content, 1000); err != nil || content.Len() != 1000 {
		t.Errorf("%d bytes, %v", content.Len(), err)
	}
	if err := client.Download(ctx, made, io.Discard, 999); err == nil {
		t.Error("a file that is longer than it may be is downloaded")
	}
	if err := client.Download(ctx, uploaded.ID, io.Discard, 10); err == nil {
		t.Error("an uploaded file is downloaded")
	}
	if found := all(t, client.Files(ctx)); len(found) != 2 {
		t.Errorf("files are %+v", found)
	}
	if err := client.DeleteFile(ctx, made); err != nil {
		t.Error(err)
	}
	var refused *anthropic.Error
	if _, err := client.File(ctx, made); !errors.As(err, &refused) || refused.Status != http.StatusNotFound || refused.Type != "not_found_error" || !strings.HasPrefix(refused.RequestID, "req_") {
		t.Errorf("%v", err)
	}
}

// What failed is tried again where that cannot do it twice.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status      int
		kind        string
		get, create int // requests that are made in all
	}{
		{http.StatusTooManyRequests, "rate_limit_error", 3, 3},
		{529, "overloaded_error", 3, 3},
		{http.StatusInternalServerError, "api_error", 3, 1},
		{http.StatusGatewayTimeout, "timeout_error", 3, 1},
		{http.StatusBadRequest, "invalid_request_error", 1, 1},
		{http.StatusForbidden, "permission_error", 1, 1},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			api := anthropictest.New(t)
			client := connect(t, api.URL)
			api.Refuse(2, test.status, test.kind)
			for _, err := range client.Skills(t.Context(), "") {
				check(t, err, test.get == 3, test.kind)
			}
			if got := len(api.Requests()); got != test.get {
				t.Errorf("%d requests for a list", got)
			}
			api = anthropictest.New(t)
			client = connect(t, api.URL)
			api.Refuse(2, test.status, test.kind)
			_, err := client.CreateSkill(t.Context(), greet("x"))
			check(t, err, test.create == 3, test.kind)
			if got := len(api.Requests()); got != test.create {
				t.Errorf("%d requests to create a skill", got)
			}
		})
	}
}

func check(t *testing.T, err error, succeeds bool, kind string) {
	t.Helper()
	var refused *anthropic.Error
	if succeeds != (err == nil) || err != nil && (!errors.As(err, &refused) || refused.Type != kind) {
		t.Errorf("%v", err)
	}
}

// A request is not made for ever.
func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	api.Refuse(100, http.StatusTooManyRequests, "rate_limit_error")
	_, err := connect(t, api.URL).Skill(t.Context(), "skill_x")
	var refused *anthropic.Error
	if !errors.As(err, &refused) || len(api.Requests()) != 4 || anthropic.Hint(err) == "" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := connect(t, api.URL).Skill(ctx, "skill_x"); !errors.Is(err, context.Canceled) || len(api.Requests()) > 1 {
		t.Errorf("%v", err)
	}
}

// The key goes to the base URL over a connection that nobody reads, and to nobody
// else.
func TestBaseURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://api.example.com", "ftp://h", "https://", "https://user@h", "https://h/?q", "https://h/#f", "h", ":"} {
		if _, err := anthropic.New(anthropic.Options{BaseURL: url, Key: key("k")}); err == nil {
			t.Errorf("%s is taken", url)
		}
	}
	for _, url := range []string{"", "https://gateway.example.com/anthropic/", "http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"} {
		if _, err := anthropic.New(anthropic.Options{BaseURL: url, Key: key("k")}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	asked := make(chan string, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("X-Api-Key") }))
	defer elsewhere.Close()
	leads := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer leads.Close()
	_, err := connect(t, leads.URL).Skill(t.Context(), "skill_x")
	var refused *anthropic.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusTemporaryRedirect || len(asked) > 0 {
		t.Errorf("%v; elsewhere was asked %d times", err, len(asked))
	}
}

// An id is one segment of a path, whatever is in it.
func TestIDsAreNoPaths(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"../files", "a/b", "..", ".", "%2e%2e", "?a=b", "a#b"} {
		var asked string
		api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = r.URL.EscapedPath() }))
		_, _ = connect(t, api.URL).Skill(t.Context(), id)
		api.Close()
		if rest, ok := strings.CutPrefix(asked, "/v1/skills/"); !ok || strings.Contains(rest, "/") {
			t.Errorf("%q asks for %s", id, asked)
		}
	}
}

// What is no answer of the API is an error, and bounded.
func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"text":                func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"a page that repeats": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":[],"next_page":"p"}`) },
		"a page of a proxy": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, strings.Repeat("<html>\xff", 1<<20))
		},
		"an end in the middle": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"data"`)
		},
	} {
		api := httptest.NewServer(answer)
		var last error
		for _, err := range connect(t, api.URL).Skills(t.Context(), "") {
			last = err
		}
		api.Close()
		if last == nil || len(last.Error()) > 1000 {
			t.Errorf("%s: %v", name, last)
		}
	}
}

// Without a key nothing is asked for, and no error holds a key.
func TestKeys(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	client, err := anthropic.New(anthropic.Options{BaseURL: api.URL, Key: func(context.Context) (string, error) { return "", errors.New("the variable is not set") }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Skill(t.Context(), "skill_x"); err == nil || len(api.Requests()) > 0 || !strings.Contains(anthropic.Hint(err), "ANTHROPIC_API_KEY") {
		t.Errorf("%v", err)
	}
	client, err = anthropic.New(anthropic.Options{BaseURL: api.URL, Key: key("sk-wrong")})
	if err != nil {
		t.Fatal(err)
	}
	var refused *anthropic.Error
	if _, err := client.Skill(t.Context(), "skill_x"); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized || strings.Contains(err.Error(), "sk-wrong") {
		t.Errorf("%v", err)
	}
}

// Names that would break a form are refused before anything is sent.
func TestNamesOfUploads(t *testing.T) {
	t.Parallel()
	api := anthropictest.New(t)
	for _, name := range []string{"a\"b", "a\r\nX: y", "a\x00"} {
		files := append(slices.Clone(greet("x")), anthropic.SkillFile{Path: "greet/" + name})
		if _, err := connect(t, api.URL).CreateSkill(t.Context(), files); err == nil || len(api.Requests()) > 0 {
			t.Errorf("%q: %v", name, err)
		}
	}
}
