package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/skills-mcp/skills-mcp/server"
)

// scrape returns what Prometheus reads of a URL, which it is held to.
func scrape(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("%s: %s, %q", url, answer.Status, kind)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(string(text))); err != nil {
		t.Errorf("no metrics: %v\n%s", err, text)
	}
	if problems, err := promlint.New(strings.NewReader(string(text))).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	return string(text)
}

// serveMetrics serves the metrics of a server alone.
func (f *fixture) serveMetrics(t *testing.T) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- f.server.ServeMetrics(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-served:
			must(t, err)
		case <-time.After(patience):
			t.Error("the metrics did not end")
		}
	})
	return "http://" + listener.Addr().String()
}

// TestMetrics: what clients did is counted, and no skill is named unless that is
// wanted.
func TestMetrics(t *testing.T) {
	t.Parallel()
	needBash(t)
	for _, bySkill := range []bool{false, true} {
		t.Run(map[bool]string{false: "as it is", true: "by skill"}[bySkill], func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writeFile(t, filepath.Join(root, "note/SKILL.md"), []byte(noteSkill))
			writeFile(t, filepath.Join(root, "bound/SKILL.md"), []byte("---\nname: bound\ndescription: Bound.\nallowed-tools: Read\n---\n"))
			writeFile(t, filepath.Join(root, "broken/SKILL.md"), []byte(brokenSkill))
			f := newFixtureOf(t, root, func(opts *server.Options) { opts.MetricsBySkill = bySkill }, "runs=1", "toolset=workspace")
			f.watch(t)
			c := f.connect(t)
			c.exec(t, "note", map[string]any{"command": "true"})
			c.exec(t, "note", map[string]any{"command": "exit 3"})
			c.exec(t, "note", map[string]any{"command": "sleep 60", "timeoutMs": 50})
			c.call(t, "bash_tool", map[string]any{"command": "true"})
			c.call(t, "exec", map[string]any{"name": "bound", "command": "true"})
			c.call(t, "exec", map[string]any{"name": "note", "script": "none.sh"})
			c.call(t, "activate", map[string]any{"name": "never-there"})
			c.ask(t, "resources/read", map[string]any{"uri": "skill://note/SKILL.md"})
			c.ask(t, "resources/subscribe", map[string]any{"uri": "skill://note/SKILL.md"})
			f.newSkill(t)(0)
			c.hears(t, "resources/list_changed")
			text := scrape(t, f.serveMetrics(t)+"/metrics")
			of := func(skill string) string {
				if !bySkill {
					return ""
				}
				return `,skill="` + skill + `"`
			}
			for _, want := range []string{
				`skills_mcp_requests_total{method="tools/call",tool="activate",outcome="failed"` + of("") + `} 1`,
				`skills_mcp_requests_total{method="tools/call",tool="bash_tool",outcome="ok"` + of("") + `} 1`,
				`skills_mcp_requests_total{method="tools/call",tool="exec",outcome="denied"` + of("bound") + `} 1`,
				`skills_mcp_requests_total{method="tools/call",tool="exec",outcome="failed"` + of("note") + `} 3`,
				`skills_mcp_requests_total{method="tools/call",tool="exec",outcome="ok"` + of("note") + `} 1`,
				`skills_mcp_requests_total{method="resources/read",tool="",outcome="ok"` + of("note") + `} 1`,
				`skills_mcp_denials_total{method="tools/call",tool="exec",code="permission_denied"` + of("bound") + `} 1`,
				`skills_mcp_runs_total{backend="unsafe-host",status="timeout"` + of("note") + `} 1`,
				`skills_mcp_runs_total{backend="unsafe-host",status="not_started"` + of("note") + `} 1`,
				`skills_mcp_run_duration_seconds_count{backend="unsafe-host"} 4`,
				`skills_mcp_request_duration_seconds_count{method="tools/call",tool="exec"} 5`,
				"skills_mcp_workspaces 1", "skills_mcp_runs_running 0", "skills_mcp_runs_waiting 0", "skills_mcp_problems 1",
				`skills_mcp_notifications_total{method="notifications/resources/list_changed"} `,
			} {
				if !strings.Contains(text, want) {
					t.Errorf("there is no %s in\n%s", want, text)
				}
			}
			if ok := `{backend="unsafe-host",status="exited"`; bySkill && (!strings.Contains(text, ok+of("")+"} 1") || !strings.Contains(text, ok+of("note")+"} 2")) || !bySkill && !strings.Contains(text, ok+"} 3") {
				t.Errorf("the runs are\n%s", text)
			}
			if !bySkill && (strings.Contains(text, "note") || strings.Contains(text, "bound")) || strings.Contains(text, "never-there") || strings.Contains(text, root) {
				t.Errorf("it names what it should not:\n%s", text)
			}
		})
	}
}

// TestMetricsAreForThisMachine: no page of another origin reads them, and where they
// are served alone nothing else is.
func TestMetricsAreForThisMachine(t *testing.T) {
	t.Parallel()
	f := newFixture(t, t.TempDir())
	own, shared := f.serveMetrics(t), f.serveHTTP(t)
	scrape(t, own+"/metrics")
	scrape(t, shared+"/metrics")
	for _, test := range []struct {
		method, url, host, origin string
		want                      int
	}{
		{"GET", own + "/metrics", "evil.example.com", "", 403},
		{"GET", own + "/metrics", "", "https://evil.example.com", 403},
		{"GET", shared + "/metrics", "evil.example.com", "", 403},
		{"POST", own + "/metrics", "", "", 405},
		{"POST", own + "/mcp", "", "", 404}, {"GET", own + "/sse", "", "", 404}, {"GET", own + "/healthz", "", "", 404},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, test.url, nil)
		must(t, err)
		if test.host != "" {
			request.Host = test.host
		}
		if test.origin != "" {
			request.Header.Set("Origin", test.origin)
		}
		answer, err := http.DefaultClient.Do(request)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode != test.want {
			t.Errorf("%+v: %s", test, answer.Status)
		}
	}
}
