package metrics_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/skills-mcp/skills-mcp/internal/metrics"
)

// odd are values of labels that others choose.
var odd = []string{"", "plain", `back\slash`, `quo"te`, "two\nlines", "größe ☃", "\xff\xfe", "a,b={}#", "tab\t\x00"}

// TestAsTheOfficialLibrary: the text is that of the official client library for
// the same observations.
func TestAsTheOfficialLibrary(t *testing.T) {
	t.Parallel()
	bounds := []float64{0.1, 1, 60}
	values := []float64{0, 0.1, 0.5, 1, 1.5, 60, 61, 1e9}
	ours, theirs := &metrics.Registry{}, prometheus.NewRegistry()
	counter := ours.Counter("skills_labeled_total", "Counts \\ and\nmore.", "kind", "name")
	plain := ours.Counter("skills_plain_total", "Is plain.")
	histogram := ours.Histogram("skills_taken_seconds", "Takes.", bounds, "name")
	ours.Gauge("skills_level", "Is.", func() float64 { return -2.5 })
	theirCounter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "skills_labeled_total", Help: "Counts \\ and\nmore."}, []string{"kind", "name"})
	theirPlain := prometheus.NewCounter(prometheus.CounterOpts{Name: "skills_plain_total", Help: "Is plain."})
	theirHistogram := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "skills_taken_seconds", Help: "Takes.", Buckets: bounds}, []string{"name"})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "skills_level", Help: "Is."})
	gauge.Set(-2.5)
	theirs.MustRegister(theirCounter, theirPlain, theirHistogram, gauge)
	for i, value := range odd {
		valid := strings.ToValidUTF8(value, "\uFFFD")
		counter.Add(float64(i+1), "x", value)
		theirCounter.WithLabelValues("x", valid).Add(float64(i + 1))
		for _, observed := range values {
			histogram.Observe(observed, value)
			theirHistogram.WithLabelValues(valid).Observe(observed)
		}
	}
	plain.Add(-1)
	plain.Add(0)
	families, err := theirs.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&want, family); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(sortedLines(want.String()), sortedLines(text(t, ours))); diff != "" {
		t.Errorf("the text (-theirs +ours):\n%s", diff)
	}
	if problems, err := promlint.New(strings.NewReader(text(t, ours))).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if parsed, err := parser.TextToMetricFamilies(strings.NewReader(text(t, ours))); err != nil || len(parsed) != 4 {
		t.Errorf("%d metrics were read: %v", len(parsed), err)
	}
}

func text(t *testing.T, r *metrics.Registry) string {
	t.Helper()
	var out strings.Builder
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// sortedLines returns lines by their order, series of one metric by their text.
func sortedLines(text string) map[string]int {
	lines := map[string]int{}
	for line := range strings.Lines(text) {
		lines[line]++
	}
	return lines
}

// TestSeriesAreBounded: names that others choose do not fill the memory.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	r := &metrics.Registry{}
	counter := r.Counter("skills_labeled_total", "Counts.", "name", "kind")
	var adding sync.WaitGroup
	for i := range 4 {
		adding.Go(func() {
			for j := range metrics.MaxSeries {
				counter.Add(1, fmt.Sprint(i, j), "x")
			}
		})
	}
	adding.Wait()
	series := strings.Count(text(t, r), "\nskills_labeled_total{")
	if want := fmt.Sprintf("skills_labeled_total{name=%q,kind=%q} %d\n", metrics.Other, metrics.Other, 3*metrics.MaxSeries); series != metrics.MaxSeries+1 || !strings.Contains(text(t, r), want) {
		t.Errorf("%d series, and not %s", series, want)
	}
}
