package server

import (
	"context"
	"net"
	"path"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/metrics"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/web"
)

// Bounds of the buckets of durations, in seconds: those of requests, most of which
// run nothing, and those of runs.
var (
	requestBounds = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600}
	runBounds     = []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600}
)

// notStarted is the status of runs whose program was not started.
const notStarted = "not_started"

// measures are the metrics of a server.
type measures struct {
	registry metrics.Registry
	bySkill  bool

	requests, denials, runs, cpu, notifications metrics.Counter
	requestSeconds, runSeconds                  metrics.Histogram
}

func newMeasures(opts Options) *measures {
	m := &measures{bySkill: opts.MetricsBySkill}
	r := &m.registry
	m.requests = r.Counter("skills_mcp_requests_total", "Calls of tools and readings of skills, by how they went.", m.labels("method", "tool", "outcome")...)
	m.requestSeconds = r.Histogram("skills_mcp_request_duration_seconds", "How long they took, waiting included.", requestBounds, "method", "tool")
	m.denials = r.Counter("skills_mcp_denials_total", "What the policy or the user forbade.", m.labels("method", "tool", "code")...)
	m.runs = r.Counter("skills_mcp_runs_total", "Runs of programs, by how they ended.", m.labels("backend", "status")...)
	m.runSeconds = r.Histogram("skills_mcp_run_duration_seconds", "How long programs ran.", runBounds, "backend")
	m.cpu = r.Counter("skills_mcp_run_cpu_seconds_total", "Processor time of programs, where the sandbox can tell.", "backend")
	if waits, ok := opts.Sandbox.(interface{ Load() (running, waiting int) }); ok {
		r.Gauge("skills_mcp_runs_running", "Programs that run.", func() float64 { running, _ := waits.Load(); return float64(running) })
		r.Gauge("skills_mcp_runs_waiting", "Runs that wait for others to end.", func() float64 { _, waiting := waits.Load(); return float64(waiting) })
	}
	if opts.Workspaces != nil {
		r.Gauge("skills_mcp_workspaces", "Workspaces that there are.", func() float64 { return float64(opts.Workspaces.Len()) })
	}
	r.Gauge("skills_mcp_skills", "Skills that are published.", func() float64 { return float64(len(opts.Catalog.Snapshot().Skills())) })
	r.Gauge("skills_mcp_problems", "What is wrong with skills.", func() float64 { return float64(len(opts.Catalog.Snapshot().Problems())) })
	m.notifications = r.Counter("skills_mcp_notifications_total", "Notices of changes that were made for clients.", "method")
	return m
}

// labels adds that of the skill, where it is wanted.
func (m *measures) labels(names ...string) []string {
	if m.bySkill {
		names = append(names, "skill")
	}
	return names
}

// request counts a request by its record.
func (m *measures) request(record audit.Record) {
	of := func(value string) []string {
		values := []string{record.Method, record.Tool, value}
		if m.bySkill {
			values = append(values, record.Skill)
		}
		return values
	}
	m.requests.Add(1, of(string(record.Outcome))...)
	m.requestSeconds.Observe(record.DurationMs/1000, record.Method, record.Tool)
	if record.Outcome == audit.Denied {
		m.denials.Add(1, of(record.Error)...)
	}
}

// notified counts notices of one kind.
func (m *measures) notified(method string, clients int) {
	m.notifications.Add(float64(clients), method)
}

// measured counts the runs of a backend.
type measured struct {
	sandbox.Backend
	measures *measures
}

func (b measured) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	result, err := b.Backend.Run(ctx, spec)
	backend, status := b.Info().Backend, string(result.Status)
	if err != nil {
		status = notStarted
	}
	values := []string{backend, status}
	if b.measures.bySkill {
		values = append(values, skillOf(spec))
	}
	b.measures.runs.Add(1, values...)
	if err == nil {
		b.measures.runSeconds.Observe(result.Duration.Seconds(), backend)
		b.measures.cpu.Add(result.CPUTime.Seconds(), backend)
	}
	return result, err
}

// skillOf returns the name of the skill that a run is of, or nothing: it ends the
// skill's path, and that is the first line of the owner.
func skillOf(spec sandbox.Spec) string {
	owner, _, ok := strings.Cut(spec.Owner, "\n")
	if !ok {
		return ""
	}
	return path.Base(owner)
}

// ServeMetrics serves /metrics, what Prometheus reads, and nothing else on a
// listener until ctx ends. Who may connect is as in [Server.Serve], without
// further hosts.
func (s *Server) ServeMetrics(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return web.New(ctx, web.Options{Metrics: s.measures.registry.Write, Redact: s.opts.Redact, Now: time.Now, Log: s.log}).Serve(listener)
}
